import { z } from 'zod';

/** Control characters but those by which text is made bold or coloured, and halves of characters. */
const unprintable = /[\x05-\x08\n-\x0e\x10\x12-\x15\x17-\x1c\x7f-\x9f]|\p{Cs}/u;

/** What a line must not have. */
const other = '\\x00\\x01\\x05-\\x08\\n-\\x0e\\x10\\x12-\\x15\\x17-\\x1c\\x7f-\\x9f';
const form = `^[^${other}]*[^${other}\\s][^${other}]*$`;

/** Text that goes to the network as it is: one line of so many bytes at most. */
export const LineText = (mostBytes: number, example: string) =>
  z
    .string()
    .refine((text) => text.trim() !== '', 'must not be empty')
    .refine((text) => !/[\r\n\0]/.test(text), 'must be one line')
    .refine((text) => !text.includes('\x01'), 'must not hold a CTCP mark')
    .refine(
      (text) => !unprintable.test(text),
      'must hold no control characters but those of formatting, and only whole characters',
    )
    .refine((text) => Buffer.byteLength(text) <= mostBytes, `must have at most ${mostBytes} bytes`)
    .meta({ example, maxLength: mostBytes, form })
    .describe(`One line of at most ${mostBytes} bytes`);
