// Run by mongosh as the health check of the first MongoDB in docker-compose.cluster.yml: well is a member that leads or
// follows. The first time it makes the three a replica set.
const members = ['mongodb:27017', 'mongodb-2:27017', 'mongodb-3:27017'];
try {
  rs.status();
} catch (error) {
  if (error.codeName !== 'NotYetInitialized') throw error;
  rs.initiate({ _id: 'meerkat', members: members.map((host, _id) => ({ _id, host })) });
}
const { isWritablePrimary, secondary } = db.hello();
quit(isWritablePrimary || secondary ? 0 : 1);
