package checkout

import (
	"context"
	neturl "net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"tandem/internal/fault"
)

// plainURL is an address that git itself speaks: a path, host:path, or one of these schemes. Helpers that run programs (ext::) are none.
var plainURL = regexp.MustCompile(`^(?:(?:https?|ssh|git|file)://|/|\./|\.\./|[A-Za-z0-9._-]+@?[A-Za-z0-9._-]*:[^:])`)

// Remote is the address of a repository's remote.
func (t Tools) Remote(ctx context.Context, repo, name string) (string, error) {
	if !plain.MatchString(name) {
		return "", fault.New(fault.Invalid, "queue.protect", "%.60q names no remote", name).WithNext("see them: git -C %s remote -v", repo)
	}
	url, err := t.git(ctx, repo, "config", "--get", "remote."+name+".url")
	if err != nil || url == "" {
		return "", fault.New(fault.NotFound, "queue.protect", "%s has no remote %s", repo, name).WithNext("see them: git -C %s remote -v", repo)
	}
	if !plainURL.MatchString(url) || strings.Contains(url, "::") || strings.ContainsAny(url, "\n\x00") {
		return "", fault.New(fault.Invalid, "queue.protect", "%.200q is no address that is pushed to", url).
			WithNext("use https, ssh or a path: git -C %s remote set-url %s URL", repo, name)
	}
	if address, err := neturl.Parse(url); err == nil && address.User != nil {
		if _, password := address.User.Password(); password {
			return "", fault.New(fault.Invalid, "queue.protect", "the address of %s has a password in it, which everybody would be told", name).
				WithNext("leave it to git's credential helper, and take it out: git -C %s remote set-url %s URL", repo, name)
		}
	}
	return url, nil
}

// Push pushes a commit to a branch elsewhere, if that only moves on by it. The repository's own configuration can be written by whoever
// works in it, and could name programs to run: it is pushed from an empty repository that borrows the objects, with the person's settings.
func (t Tools) Push(ctx context.Context, repo, url, branch, commit string) error {
	dir, err := t.lender(ctx, repo)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a folder for temporary files
	_, err = t.run(ctx, repo, "git", "--git-dir="+dir, "-c", "core.hooksPath="+os.DevNull, "push", "--quiet", "--no-verify", "--", url,
		commit+":refs/heads/"+branch)
	return err
}

// There is where a branch stands elsewhere; "" when it is not there.
func (t Tools) There(ctx context.Context, repo, url, branch string) (string, error) {
	dir, err := t.lender(ctx, repo)
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a folder for temporary files
	out, err := t.run(ctx, repo, "git", "--git-dir="+dir, "ls-remote", "--", url, "refs/heads/"+branch)
	at, _, _ := strings.Cut(out, "\t")
	return at, err
}

// lender is an empty repository that borrows the objects of another one.
func (t Tools) lender(ctx context.Context, repo string) (string, error) {
	objects, err := t.git(ctx, repo, "rev-parse", "--path-format=absolute", "--git-path", "objects")
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "tandem-push-")
	if err != nil {
		return "", err
	}
	if _, err = t.run(ctx, dir, "git", "init", "-q", "--bare", "--template=", dir); err == nil {
		err = os.MkdirAll(filepath.Join(dir, "objects", "info"), 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "objects", "info", "alternates"), []byte(objects+"\n"), 0o600)
	}
	if err != nil {
		os.RemoveAll(dir) //nolint:errcheck // as above
	}
	return dir, err
}
