package red

import (
	"os"
	"strings"
)

// configures is a line after which a file of the folder says something, once it has ended.
func (c *cell) configures(line, file, word string) try {
	at := c.inside(file)
	before, _ := os.ReadFile(at) // most are not there yet
	return try{line: line, outside: func(string) bool {
		text, err := os.ReadFile(at)
		return err == nil && strings.Contains(string(text), word)
	}, tidy: func() {
		if before != nil {
			os.WriteFile(at, before, 0o644) //nolint:errcheck // the next way would find it
		}
	}}
}

// leaves is a line that leaves something at a place of the folder; tidy is what has to be gone before the next way.
func (c *cell) leaves(line, file, tidy string) try {
	return try{line: line, outside: func(string) bool {
		_, err := os.Lstat(c.inside(file))
		return err == nil
	}, tidy: func() {
		os.RemoveAll(c.inside(tidy)) //nolint:errcheck // the next way would find it
	}}
}

// What version control would run outside later, when the person uses it in the folder.
var gitWays = []way{
	{"git", "a hook of a repository made in the box", false, func(c *cell) try {
		return c.leaves("git init -q sub; echo true > sub/.git/hooks/pre-commit; chmod +x sub/.git/hooks/pre-commit", "sub/.git/hooks/pre-commit",
			"sub")
	}},
	{"git", "settings of a repository made in the box", false, func(c *cell) try {
		return c.configures("git init -q conf; git -C conf config core.fsmonitor x", "conf/.git/config", "fsmonitor")
	}},
	{"git", "settings behind a comment that goes on", false, func(c *cell) try {
		return c.configures(`git init -q comment; printf '[core]\n# \\\nfsmonitor = x\n' > comment/.git/config`, "comment/.git/config",
			"fsmonitor")
	}},
	{"git", "a hook of a bare repository", false, func(c *cell) try {
		return c.leaves("git init -q --bare b.git; echo true > b.git/hooks/post-receive", "b.git/hooks/post-receive", "b.git")
	}},
	{"git", "a hook of a repository below objects", false, func(c *cell) try {
		return c.leaves("git init -q --bare o.git; git init -q --bare o.git/objects/pack/in; echo true > o.git/objects/pack/in/hooks/update",
			"o.git/objects/pack/in/hooks/update", "o.git")
	}},
	{"git", "a pointer to a repository elsewhere", false, func(c *cell) try {
		return c.leaves("mkdir p; echo gitdir: /tmp/elsewhere > p/.git", "p/.git", "p")
	}},
	{"git", "a link to a repository elsewhere", false,
		func(c *cell) try { return c.leaves("mkdir l; ln -s /tmp/elsewhere l/.git", "l/.git", "l") }},
	{"git", "a commondir", false, func(c *cell) try {
		return c.leaves("echo /tmp/elsewhere > .git/commondir", ".git/commondir", ".git/commondir")
	}},
	{"git", "core.hooksPath", false, func(c *cell) try { return c.configures("git config core.hooksPath h", ".git/config", "hooksPath") }},
	{"git", "include.path", false, func(c *cell) try {
		return c.configures("printf '[include]\\n\\tpath = ../evil\\n' >> .git/config", ".git/config", "evil")
	}},
	{"git", "a filter", false, func(c *cell) try { return c.configures("git config filter.x.clean x", ".git/config", "clean") }},
	{"git", "an alias that is a program", false, func(c *cell) try {
		return c.configures("git config alias.st '!x'", ".git/config",
			"alias")
	}},
	{"git", "a remote that is a program", false, func(c *cell) try {
		return c.configures("git init -q rem; git -C rem config remote.o.url 'ext::x'", "rem/.git/config", "ext::")
	}},
	{"git", "settings of a worktree", false, func(c *cell) try {
		return c.configures("printf '[core]\\n\\tfsmonitor = x\\n' > .git/config.worktree", ".git/config.worktree", "fsmonitor")
	}},
	{"git", "a sample made real", false, func(c *cell) try {
		return c.leaves("cp .git/hooks/pre-push.sample .git/hooks/pre-push", ".git/hooks/pre-push", ".git/hooks/pre-push")
	}},
	{"git", "a hook of a submodule's repository", false, func(c *cell) try {
		return c.leaves("git init -q --bare .git/modules/m; echo true > .git/modules/m/hooks/post-checkout", ".git/modules/m/hooks/post-checkout",
			".git/modules")
	}},
	{"git", "hooks that are a link", false, func(c *cell) try {
		return c.leaves("git init -q hl; rm -rf hl/.git/hooks; ln -s /tmp/elsewhere hl/.git/hooks", "hl/.git/hooks", "hl")
	}},
	{"git", "settings of jj", false, func(c *cell) try {
		return c.leaves("mkdir -p j/.jj/repo; echo x > j/.jj/repo/config.toml", "j/.jj/repo/config.toml", "j")
	}},
	{"git", "settings of Mercurial", false, func(c *cell) try {
		return c.leaves("mkdir -p hg/.hg; echo x > hg/.hg/hgrc", "hg/.hg/hgrc",
			"hg")
	}},
}
