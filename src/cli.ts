#!/usr/bin/env node
import { commands } from './ops/commands.js';
import { runProcess } from './ops/process.js';
import { runCommandLine } from './ops/run.js';

void runProcess((terminal, stop) => runCommandLine(process.argv.slice(2), { commands, terminal, stop }));
