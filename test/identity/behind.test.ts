import t from 'tap';
import type { Projector } from '../../projections/core/projector.js';
import type { Sql } from '../../projections/core/sql.js';
import { nobody } from '../../src/operations/core/call.js';
import { getLinkOfNick, getLinkOfWallet } from '../../src/operations/identity/links.js';
import type { IdentityParts } from '../../src/operations/identity/parts.js';
import { ReadModels } from '../../src/stores/read-models.js';

t.test('a link from before a change of this process is not taken for true', async (t) => {
  // as it is when the read model has halted
  const projector = { reached: async () => false } as unknown as Projector;
  const parts = {
    readModels: new ReadModels({} as Sql, projector),
    identity: { registry: { position: { stream: 'IDENTITY', seq: 7 } } },
  } as unknown as IdentityParts;
  const behind = { status: 503, code: 'read_model_behind' };
  await t.rejects(getLinkOfNick.run({ nick: 'alice' }, nobody, parts), behind);
  const address = '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed';
  await t.rejects(getLinkOfWallet.run({ address }, nobody, parts), behind);
});
