package host

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/op"
)

// gitTime is how long git may take to collect, fetch, push or compare, whoever
// asks, and gitDelay how long what it has started may go on after it. A clone has
// no end of its own, as a large repository takes hours over a slow line: the door
// cuts off who takes longer than a minute for the next 64 KiB, and each caller
// has so many at a time. There gitTime is for what was not read yet when git, or
// its caller's right, had ended.
const (
	gitTime  = 10 * time.Minute
	gitDelay = 10 * time.Second
)

// Git lets git read a repository: GET /repo/{repo}/git/info/refs and
// POST /repo/{repo}/git/git-upload-pack. Nothing is written this way.
func (h *Host) Git(w http.ResponseWriter, r *http.Request) {
	ctx, err := h.Gate().Admit(r.Context(), string(RepoPull), PullIn{Repo: r.PathValue("repo")})
	if err != nil {
		h.Fail(w, r, err)
		return
	}
	s, err := h.find(ctx, r.PathValue("repo"))
	if err != nil {
		h.Fail(w, r, err)
		return
	}
	if err := h.mayCopy(ctx, s); err != nil {
		h.Fail(w, r, err)
		return
	}
	h.upload(ctx, w, r, s)
}

// upload is git's own answer to somebody who was let in, for as long as they are.
func (h *Host) upload(ctx context.Context, w http.ResponseWriter, r *http.Request, s *served) {
	ask := r.Method == http.MethodGet
	if ask && r.URL.Query().Get("service") != "git-upload-pack" {
		h.Fail(w, r, fault.New(fault.Denied, "repo.git", "git only reads here").WithNext("work in a workspace: tandem init --tandem-server …"))
		return
	}
	args := []string{"-c", "core.hooksPath=/dev/null", "-c", "uploadpack.hideRefs=refs/jj", "-c", "safe.directory=*",
		"upload-pack", "--stateless-rpc", "--strict"}
	kind := "application/x-git-upload-pack-result"
	if ask {
		args, kind = append(args, "--advertise-refs"), "application/x-git-upload-pack-advertisement"
	}
	cmd := exec.CommandContext(ctx, "git", append(args, s.store.GitDir())...)
	cmd.Env = gitEnv()
	if p := r.Header.Get("Git-Protocol"); p == "version=2" || p == "version=1" {
		cmd.Env = append(cmd.Env, "GIT_PROTOCOL="+p)
	}
	cmd.WaitDelay = gitTime
	if !ask {
		body, err := gitRequest(r)
		if err == nil { // it may have come slowly, and something been denied meanwhile
			err = h.mayCopy(ctx, s)
		}
		if err != nil {
			h.Fail(w, r, outlived(ctx, err))
			return
		}
		cmd.Stdin = bytes.NewReader(body)
	}
	_, done, err := h.reads.take(ctx, op.CallerFrom(ctx).Whence())
	if err != nil {
		h.Fail(w, r, outlived(ctx, err))
		return
	}
	defer done()
	w.Header().Set("Content-Type", kind)
	if ask {
		const line = "# service=git-upload-pack\n"
		if _, err := fmt.Fprintf(w, "%04x%s0000", len(line)+4, line); err != nil {
			return
		}
	}
	out := &packets{w: w}
	cmd.Stdout = out
	err = cmd.Run()
	if err == nil {
		return
	}
	if why := outlived(ctx, err); why != err && out.fail(why) == nil {
		return
	}
	if ctx.Err() == nil {
		h.Log.Warn("git upload-pack", "repo", s.name, "err", err)
	}
	panic(http.ErrAbortHandler) // what was sent is not the whole answer
}

// maxGitRequest bounds what git says of the commits that it wants and has.
const maxGitRequest = 16 << 20

// gitRequest reads what git asks for, whole, before anything is answered.
func gitRequest(r *http.Request) ([]byte, error) {
	body, err := io.Reader(r.Body), error(nil)
	if r.Header.Get("Content-Encoding") == "gzip" {
		if body, err = gzip.NewReader(r.Body); err != nil {
			return nil, fault.New(fault.Invalid, "repo.git", "the request is not what it says: %w", err)
		}
	}
	data, err := io.ReadAll(io.LimitReader(body, maxGitRequest+1))
	switch {
	case err != nil:
		return nil, fault.New(fault.Invalid, "repo.git", "the request broke off: %w", err)
	case len(data) > maxGitRequest:
		return nil, fault.New(fault.Invalid, "repo.git", "the request is larger than %d MiB", maxGitRequest>>20)
	}
	return data, nil
}

// gitEnv is the environment of a git that acts for somebody else: no settings
// but the repository's own, no prompts.
func gitEnv() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "LANG=C"}
}

// GitPaths lets https://HOST/NAME.git be cloned: it takes the path that git
// asks for to our own, and a password for the token it is.
func GitPaths(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, rest, found := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), ".git/")
		if !found || strings.Contains(name, "/") || rest != "info/refs" && rest != "git-upload-pack" && rest != "git-receive-pack" {
			next.ServeHTTP(w, r)
			return
		}
		_, password, basic := r.BasicAuth()
		if !basic && r.Header.Get("Authorization") == "" {
			w.Header().Set("WWW-Authenticate", `Basic realm="tandem: a token is the password"`)
			http.Error(w, "tandem does not know you: give a token as the password", http.StatusUnauthorized)
			return
		}
		to := r.Clone(r.Context())
		to.URL.Path, to.URL.RawPath = "/repo/"+name+"/git/"+rest, ""
		if basic {
			to.Header.Set("Authorization", "Bearer "+password)
		}
		next.ServeHTTP(w, to)
	})
}
