import { describe, expect, it } from 'vitest';
import { isHarmlessGitConfig } from '../../src/launch/git-config.ts';

describe('isHarmlessGitConfig()', () => {
  it.each([
    '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n',
    '[remote "origin"]\n\turl = https://example.org/x.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main\n',
    '[user]\n\tname = A B\n\temail = a@b # mine\n',
    '[submodule "x"]\n\tactive = true\n\turl = ../x\n',
    '[protocol "file"]\n\tallow = always\n',
    '# nothing\n;\n\n',
  ])('lets what git itself writes stay: %j', (text) => {
    expect(isHarmlessGitConfig(text)).toBeUndefined();
  });

  it.each([
    ['[core]\n\tfsmonitor = x\n', 'core.fsmonitor'],
    ['[core]\nhooksPath = x\n', 'core.hookspath'],
    ['[CORE]\nSSHCommand = x\n', 'core.sshcommand'],
    ['[core]\n# x \\\n\tfsmonitor = x\n', 'a line that goes on'],
    ['[core]\n# x \\\r\n\tfsmonitor = x\n', 'a line that goes on'],
    ['[a] [core] fsmonitor = x\n', 'a line that is not plain'],
    ['[core] fsmonitor = x\n', 'a line that is not plain'],
    ['[core "x"]\nfsmonitor = x\n', 'core.*.fsmonitor'],
    ['[alias]\n\tst = !x\n', 'alias.st'],
    ['[filter "x"]\n\tclean = x\n', 'filter.*.clean'],
    ['[include]\n\tpath = x\n', 'include.path'],
    ['[includeIf "gitdir:x"]\n\tpath = x\n', 'includeif.*.path'],
    ['[merge "x"]\n\tdriver = x\n', 'merge.*.driver'],
    ['[remote "o"]\n\turl = ext::sh -c x\n', 'remote.*.url'],
    ['[remote "o"]\n\tuploadpack = x\n', 'remote.*.uploadpack'],
    ['[extensions]\n\tpartialClone = o\n', 'extensions.partialclone'],
    ['[protocol]\n\tallow = always\n', 'protocol.allow'],
    ['[protocol "ext"]\n\tallow = always\n', 'protocol.*.allow'],
    ['[hook "x"]\n\tcommand = x\n', 'hook.*.command'],
    ['[init]\n\ttemplateDir = x\n', 'init.templatedir'],
    ['[core]\n\tbare = false\0\n', 'a line that goes on'],
  ])('names what is not harmless: %j', (text, reason) => {
    expect(isHarmlessGitConfig(text)).toBe(reason);
  });
});
