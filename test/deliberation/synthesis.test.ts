import t from 'tap';
import { readSynthesis } from '../../workers/deliberation/synthesis.js';

const whole = { consensus: 'yes', agreement: 0.8, dissent: ['b doubts it'] };
const text = JSON.stringify(whole);

t.test('BRAIN-10 a synthesis in whatever form', async (t) => {
  const forms: Record<string, string> = {
    'as asked for': text,
    'in a fence': `\`\`\`json\n${text}\n\`\`\``,
    'with words around it': `Here you are:\n${text}\nI hope {this} helps.`,
    'behind its thoughts': `<think>first {"consensus": "no"} and then</think>${text}`,
    pretty: JSON.stringify(whole, null, 2),
    'with an unclosed brace before it': `{ well, ${text}`,
  };
  for (const [name, answer] of Object.entries(forms)) t.same(readSynthesis(answer), whole, name);
});

t.test('BRAIN-10 agreement in whatever form', async (t) => {
  const cases: [unknown, number | null][] = [
    [0, 0],
    [1, 1],
    [0.333, 0.333],
    ['0.8', 0.8],
    ['80%', 0.8],
    [80, 0.8],
    ['8/10', 0.8],
    [' 100 % ', 1],
    [101, null],
    [-1, null],
    ['high', null],
    [null, null],
    ['8/0', null],
    [{}, null],
  ];
  for (const [agreement, expected] of cases) {
    const read = readSynthesis(JSON.stringify({ consensus: 'yes', agreement }));
    t.equal(read.agreement, expected, JSON.stringify(agreement));
  }
});

t.test('BRAIN-10 dissent in whatever form', async (t) => {
  const cases: [unknown, string[]][] = [
    [undefined, []],
    [null, []],
    ['none', []],
    ['b doubts it', ['b doubts it']],
    [
      [' one ', '', 'N/A', 7, 'two'],
      ['one', 'two'],
    ],
    [[{ model: 'b', point: 'too early', weight: 3 }], ['b: too early']],
    [Array(60).fill('x'), Array(50).fill('x')],
  ];
  for (const [dissent, expected] of cases) {
    const read = readSynthesis(JSON.stringify({ consensus: 'yes', dissent }));
    t.same(read.dissent, expected, JSON.stringify(dissent));
  }
});

t.test('BRAIN-10 no object, no consensus in it, or one that is cut off', async (t) => {
  const bare = (consensus: string) => ({ consensus, agreement: null, dissent: [] });
  t.same(readSynthesis(' They all say yes. '), bare('They all say yes.'));
  t.same(readSynthesis('{"consensus": ""}'), bare('{"consensus": ""}'));
  t.same(readSynthesis('{"consensus": 7}'), bare('{"consensus": 7}'));
  t.same(readSynthesis('{"consensus": "they \\"all\\" say\\u00fc'), bare('they "all" sayü'));
  t.same(readSynthesis('{"consensus": "half an escape \\u00'), bare('half an escape'));
  const before = process.cpuUsage(); // not how long it has to wait for the processor
  const braces = '{'.repeat(100_000);
  t.same(readSynthesis(braces), bare(braces), 'braces without end');
  t.ok(process.cpuUsage(before).user < 3_000_000, 'are not looked at for ever');
});
