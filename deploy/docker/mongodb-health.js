// Run by mongosh as the health check of docker-compose.yml's MongoDB: well is a server that takes writes. The first time
// it makes the server a replica set of one, which is what transactions and majorities need.
try {
  rs.status();
} catch (error) {
  if (error.codeName !== 'NotYetInitialized') throw error;
  rs.initiate({ _id: 'meerkat', members: [{ _id: 0, host: 'mongodb:27017' }] });
}
quit(db.hello().isWritablePrimary ? 0 : 1);
