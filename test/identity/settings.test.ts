import t from 'tap';
import { readConfig } from '../../src/config/config.js';
import { settingRisks } from '../../src/config/warnings.js';

const address = '0x8004a169fb4a3325136eb29fa0ceb6d2e539a432';
const said = (environment: Record<string, string>) =>
  settingRisks(readConfig(environment)).filter(({ mend }) => mend === 'set both or neither');

t.test('IDENT-26 settings that go together', async (t) => {
  const chain = { CHAIN_RPC_URL: 'http://127.0.0.1:8545', ERC8004_REGISTRY: address };
  const receiver = { EM_IDENTITY_WEBHOOK_URL: 'http://127.0.0.1:9', EM_IDENTITY_WEBHOOK_SECRET: 'secret' };
  t.same(said({ ...chain, ...receiver }), []);
  for (const [name, value] of Object.entries(receiver)) {
    const [risk, ...others] = said({ [name]: value });
    t.match(risk?.what, new RegExp(`^only one of .*${name}`));
    t.same(others, []);
  }
  const ofRegistry = (environment: Record<string, string>) =>
    settingRisks(readConfig(environment)).filter(({ what }) => what.includes('ERC8004_REGISTRY'));
  t.equal(ofRegistry({ ERC8004_REGISTRY: address }).length, 1, 'a registry that nobody can ask');
  t.same(ofRegistry({ CHAIN_RPC_URL: chain.CHAIN_RPC_URL }), [], 'the endpoint alone looks up payments');
  t.same(ofRegistry(chain), []);
});

t.test('IDENT-26 what is no address, and what is not to be shown', async (t) => {
  const problem = (environment: Record<string, string>) => {
    try {
      readConfig(environment);
    } catch (error) {
      return (error as Error).message;
    }
    return '';
  };
  t.match(problem({ ERC8004_REGISTRY: '0x12' }), /ERC8004_REGISTRY: must be 0x and 40 hexadecimal digits/);
  t.match(problem({ MRSERV_NICK: '1st' }), /MRSERV_NICK: must be an IRC nick/);
  t.notMatch(problem({ CHAIN_RPC_URL: 'wss://rpc.example/v2/hidden-key' }), 'hidden-key');
});
