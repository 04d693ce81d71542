import { writeTokenPattern } from './secret-shapes.ts';

/** Tokens that tell by their shape what they are. */
export const TOKEN = new RegExp(writeTokenPattern(), 'g');
