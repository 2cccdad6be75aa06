import { PassThrough } from 'node:stream';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import t, { type Test } from 'tap';
import { LineTransport } from '../../src/mcp/line-transport.js';

const ping = { jsonrpc: '2.0' as const, id: 1, method: 'ping' };

async function open(t: Test) {
  const input = new PassThrough();
  const output = new PassThrough();
  const transport = new LineTransport(input, output);
  const messages: JSONRPCMessage[] = [];
  const complaints: string[] = [];
  let closed = false;
  transport.onmessage = (message) => void messages.push(message);
  transport.onerror = ({ message }) => void complaints.push(message);
  transport.onclose = () => {
    closed = true;
  };
  await transport.start();
  t.teardown(() => transport.close());
  return {
    transport,
    messages,
    complaints,
    isClosed: () => closed,
    give: async (bytes: string | Buffer) => {
      input.write(bytes);
      await new Promise(setImmediate);
    },
    end: async () => {
      input.end();
      await new Promise(setImmediate);
    },
    answers: () => {
      const text = (output.read() as Buffer | null)?.toString() ?? '';
      return text === ''
        ? []
        : text
            .trimEnd()
            .split('\n')
            .map((line) => JSON.parse(line));
    },
  };
}

t.test('messages, however their lines come', async (t) => {
  const { give, end, messages, answers, complaints, transport } = await open(t);
  const lines = Buffer.from(
    `${JSON.stringify({ ...ping, params: { text: 'é\u2028' } })}\r\n\n${JSON.stringify(ping)}`,
  );
  for (const byte of lines) await give(Buffer.from([byte]));
  t.same(messages, [{ ...ping, params: { text: 'é\u2028' } }], 'a line is over at its end');
  await end();
  t.same(messages[1], ping, 'or at that of the input');
  t.same([complaints, answers()], [[], []], 'an empty line is nothing');
  await transport.send({ jsonrpc: '2.0', id: 1, result: {} });
  t.same(answers(), [{ jsonrpc: '2.0', id: 1, result: {} }]);
});

t.test('MCP-19 what is no message is answered', async (t) => {
  const cases: [string, number, unknown][] = [
    ['{', -32700, null],
    ['GET / HTTP/1.1', -32700, null],
    ['\u001b[2J', -32700, null],
    ['{"id":2}', -32600, 2],
    ['{"jsonrpc":"2.0","id":"x"}', -32600, 'x'],
    ['{"jsonrpc":"1.0","id":7,"method":"ping"}', -32600, 7],
    ['{"jsonrpc":"2.0","id":7,"method":5}', -32600, 7],
    ['{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, null],
    ['{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600, null],
    [`[${JSON.stringify(ping)}]`, -32600, null],
    ['null', -32600, null],
    ['1', -32600, null],
    ['"text"', -32600, null],
  ];
  for (const [line, code, id] of cases) {
    const { give, answers, messages, complaints } = await open(t);
    await give(`${line}\n`);
    t.match(
      answers(),
      [{ jsonrpc: '2.0', id, error: { code, message: String, data: { code: String } } }],
      line,
    );
    t.equal(complaints.length, 1, line);
    await give(`${JSON.stringify(ping)}\n`);
    t.same(messages, [ping], 'and the next one is heard');
  }
});

t.test('a line without an end is not waited for', async (t) => {
  const { give, isClosed, complaints, answers } = await open(t);
  const much = Buffer.alloc(4 * 1024 * 1024, 'x');
  for (let n = 0; n < 3; n++) await give(much);
  t.ok(isClosed());
  t.match(complaints, [/more than \d+ bytes/]);
  t.match(answers(), [{ id: null, error: { code: -32700, message: /the session ends/ } }]);
});
