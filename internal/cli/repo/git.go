package repo

import (
	"context"
	"fmt"
	"strings"

	"tandem/internal/cli/kit"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/repo/host"
)

// git has the server exchange with its remotes: it has the credentials, and a
// copy has no remotes of its own.
func (c *command) git(ctx context.Context, args []string) error {
	in := host.GitIn{Repo: c.r.Ref()}
	verb := ""
	for i := 0; i < len(args); i++ {
		flag, value, joined := strings.Cut(args[i], "=")
		next := func() (string, error) {
			if joined {
				return value, nil
			}
			if i++; i >= len(args) {
				return "", kit.Usagef("%s needs a value", flag)
			}
			return args[i], nil
		}
		var err error
		switch {
		case args[i] == "git" && verb == "":
		case !strings.HasPrefix(args[i], "-") && verb == "":
			if verb = args[i]; verb != "push" && verb != "fetch" {
				return fault.New(fault.Invalid, "git", "in a workspace git belongs to the server; only push and fetch are passed on, not %q", verb).
					WithNext("run it in the server's folder")
			}
		case flag == "--remote":
			in.Remote, err = next()
		case flag == "-b" || flag == "--bookmark":
			var b string
			b, err = next()
			in.Bookmarks = append(in.Bookmarks, b)
		case flag == "--all" && verb == "push":
		default:
			return kit.Usagef("in a workspace git push takes --bookmark NAME, --all and --remote NAME, not %s", args[i])
		}
		if err != nil {
			return err
		}
	}
	if verb == "" {
		return kit.Usagef("git push or git fetch?")
	}
	m, err := c.way(ctx)
	if err != nil {
		return err
	}
	act := host.RepoGitPush
	if verb == "fetch" {
		act = host.RepoGitFetch
	}
	out, err := op.Do(ctx, m, act, in)
	if err != nil {
		return err
	}
	fmt.Fprintln(c.k.Err, out.Said)
	return c.sync(ctx)
}
