import { z } from 'zod';
import { cleanText } from '../../../streams/irc-grammar.js';

/** Control characters but ends of lines and those by which text is made bold or coloured, and halves of characters. */
const unprintable = /[\x00\x05-\x08\x0b\x0c\x0e\x10\x12-\x15\x17-\x1c\x7f-\x9f]|\p{Cs}/u;

/** Whether a text without other faults shows nothing: formatting, and zero-width and bidirectional marks. */
const isInvisible = (text: string): boolean => !unprintable.test(text) && cleanText(text) === '';

/** What a line must not have. */
const other = '\\x00\\x01\\x05-\\x08\\n-\\x0e\\x10\\x12-\\x15\\x17-\\x1c\\x7f-\\x9f';
const form = `^[^${other}]*[^${other}\\s][^${other}]*$`;

/** Text that goes to the network as it is: one line of so many bytes at most. */
export const LineText = (mostBytes: number, example: string) =>
  z
    .string()
    .refine((text) => text.trim() !== '', 'must not be empty')
    .refine((text) => !/[\r\n]/.test(text), 'must be one line')
    .refine(
      (text) => text.trim() === '' || !isInvisible(text),
      'must show something: all its characters are invisible',
    )
    .refine((text) => !text.includes('\x01'), 'must not hold a CTCP mark')
    .refine(
      (text) => !unprintable.test(text),
      'must hold no control characters but those of formatting, and only whole characters',
    )
    .refine((text) => Buffer.byteLength(text) <= mostBytes, `must have at most ${mostBytes} bytes`)
    .meta({ example, maxLength: mostBytes, form })
    .describe(`One line of at most ${mostBytes} bytes`);
