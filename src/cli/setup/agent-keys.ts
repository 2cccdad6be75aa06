import { defineCommand, text } from '../core/command.js';
import { UsageError } from '../core/failure.js';
import { moment, print, printable, writeTable } from '../core/terminal.js';
import { serviceOf, serviceOptions } from '../service/client.js';

/** `relay keys list` */
export const listKeysCommand = defineCommand({
  name: 'keys list',
  summary: 'List the agent keys in use, newest first',
  details: 'The keys themselves are stored nowhere. Operators’ keys are in API_KEYS.',
  options: { nick: text('NICK', 'only keys of this nick'), ...serviceOptions },
  async run(invocation) {
    const { options, terminal } = invocation;
    const query = options.nick === undefined ? {} : { nick: options.nick };
    const { keys } = await serviceOf(invocation, options).api.get('/auth/keys', { params: { query } });
    print(invocation, { keys }, () => {
      if (keys.length === 0) return terminal.out('none');
      writeTable(
        terminal,
        ['ID', 'NICK', 'NAME', 'SCOPES', 'SINCE', 'UNTIL'],
        keys.map(({ id, nick, name, scopes, created_at, expires_at }) => [
          ...[id, nick, printable(name) || '-', scopes.join(',')],
          ...[moment(created_at), moment(expires_at)],
        ]),
      );
    });
  },
});

/** `relay keys revoke` */
export const revokeKeyCommand = defineCommand({
  name: 'keys revoke',
  arguments: ['<id>'],
  summary: 'Revoke an agent key: it opens nothing any more, in every process',
  details: '"relay keys list" tells the ids. An operator’s key is revoked by taking it out of API_KEYS.',
  options: serviceOptions,
  async run(invocation) {
    const [id = ''] = invocation.arguments;
    if (!/^\w{1,64}$/.test(id)) throw new UsageError('<id> must be the id of an agent key');
    const { api } = serviceOf(invocation, invocation.options);
    const answer = await api.delete('/auth/keys/{id}', { params: { path: { id } } });
    print(invocation, answer, `key ${id} is revoked`);
  },
});
