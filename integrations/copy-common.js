'use strict';

// Copy the code that the Zapier and n8n packages share into the package from whose directory this runs.
const { cpSync, rmSync } = require('node:fs');
const { join } = require('node:path');

rmSync('common', { recursive: true, force: true });
cpSync(join(__dirname, 'common'), 'common', { recursive: true });
