'use strict';

// Copy the code that the packages for Zapier and n8n share into the package in whose folder this runs.
const { cpSync, rmSync } = require('node:fs');
const { join } = require('node:path');

rmSync('common', { recursive: true, force: true });
cpSync(join(__dirname, 'common'), 'common', { recursive: true });
