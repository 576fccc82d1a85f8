// Run by mongosh as the health check of the other MongoDBs in docker-compose.cluster.yml: well is a member that leads or
// follows, which the first one makes it.
const { isWritablePrimary, secondary } = db.hello();
quit(isWritablePrimary || secondary ? 0 : 1);
