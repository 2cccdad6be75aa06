import { Refusal } from '../../streams/core/index.js';
import { type Call, inputOf } from '../operations/core/call.js';
import { refuseMisspelt } from '../operations/core/misspelt.js';
import type { AnyOperation } from '../operations/core/operation.js';
import {
  comeBack,
  getConnection,
  goAway,
  joinIrcChannel,
  partIrcChannel,
} from '../operations/speech/connection.js';
import { speak } from '../operations/speech/lines.js';
import type { Ask } from './requests.js';

/** What can be asked through a socket. */
const methods: Readonly<Record<string, AnyOperation>> = {
  say: speak,
  join: joinIrcChannel,
  part: partIrcChannel,
  away: goAway,
  back: comeBack,
  connection: getConnection,
};

/** Their names. */
const methodNames = Object.keys(methods);

/** Makes what calls the operations of the methods. */
export function askOf(call: Call): Ask {
  return async (method, params, caller) => {
    const operation = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (!operation)
      throw new Refusal('method_not_found', `There is no method ${method.slice(0, 100)}`, {
        hint: `Methods are ${methodNames.join(', ')}`,
      });
    refuseMisspelt(params, Object.keys(operation.input.shape));
    return await call(operation, inputOf(operation, params, caller), caller);
  };
}
