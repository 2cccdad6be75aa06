import { guardedServer, publicUrl } from './stage.js';

// a service process of its own, as there may be several: NATS_URL and a line with its address
const { server } = await guardedServer({ natsUrl: process.argv[2]!, publicUrl });
console.log(await server.listen({ host: '127.0.0.1', port: 0 }));
