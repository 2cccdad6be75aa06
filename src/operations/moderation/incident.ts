import { z } from 'zod';
import { levels } from '../../../streams/moderation/index.js';
import { channelName, Time, text } from '../core/fields.js';

/** A moderation incident as answers have it. */
export const Incident = z
  .object({
    id: z.int().meta({ example: 3 }),
    nick: text('mallory'),
    channel: channelName,
    score: z.number().meta({ description: '0 to 100', example: 55 }),
    level: z.enum(levels).meta({ example: 'WARN' }),
    patterns: text('override').describe('Rules that matched, with commas between them'),
    created_at: Time,
  })
  .meta({ id: 'ModerationIncident' });
