import { OWN_FILE_ATTACKS } from './attacks/own-files.ts';
import { declareAttacks } from './harness.ts';

declareAttacks("assay's own files in the workspace", OWN_FILE_ATTACKS);
