import type { Call } from '../operations/core/operation.js';
import { operations } from '../operations/index.js';
import type { Gateway } from './gateway.js';
import { toolsOf } from './operation-tools.js';
import type { Tool } from './tool.js';

/** What the tools ask. */
export interface ToolSources {
  call: Call;
  gateway: Gateway;
}

/** Every tool that is served over HTTP, in the order in which it is listed. */
export function everyTool({ call }: ToolSources): Tool[] {
  return toolsOf(operations, call);
}
