#!/usr/bin/env node
import { commands } from './cli/commands.js';
import { runProcess } from './cli/core/process.js';
import { runCommandLine } from './cli/core/run.js';

void runProcess((terminal, stop) => runCommandLine(process.argv.slice(2), { commands, terminal, stop }));
