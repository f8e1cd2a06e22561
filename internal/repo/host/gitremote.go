package host

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/op"
)

// GitIn says what is exchanged with a git remote of the server's repository.
type GitIn struct {
	Repo      string   `json:"repo" jsonschema:"the repository, by name or id"`
	Remote    string   `json:"remote,omitempty" jsonschema:"the remote's name in the server's repository; origin when left out"`
	Bookmarks []string `json:"bookmarks,omitempty" jsonschema:"the bookmarks to push; all of them when left out"`
}

// GitOut is what git said.
type GitOut struct {
	Said string `json:"said"`
}

var gitWord = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_./+-]*$`)

// Check refuses words that git would take for options or patterns.
func (in GitIn) Check() error {
	for _, word := range append([]string{in.Remote}, in.Bookmarks...) {
		if word != "" && !gitWord.MatchString(word) {
			return fault.New(fault.Invalid, "repo.git", "%q cannot be the name of a remote or bookmark here", clip(word))
		}
	}
	return nil
}

func (in GitIn) remote() string {
	if in.Remote == "" {
		return "origin"
	}
	return in.Remote
}

func (h *Host) gitAt(in GitIn) op.Resource { return h.at(in.Repo, "git", in.remote()) }

// gitPush sends bookmarks to a remote, each only if it is there where we last
// saw it.
func (h *Host) gitPush(ctx context.Context, in GitIn) (GitOut, error) {
	s, err := h.find(ctx, in.Repo)
	if err != nil {
		return GitOut{}, err
	}
	url, local, err := s.address(ctx, in.remote(), "--push", "--all")
	if err != nil {
		return GitOut{}, err
	}
	args, err := h.pushArgs(ctx, s, in, url, local)
	if err != nil {
		return GitOut{}, err
	}
	return h.git(ctx, s, local, args...)
}

// pushArgs is the command line of a push of the bookmarks as they are now.
func (h *Host) pushArgs(ctx context.Context, s *served, in GitIn, url string, local bool) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := h.refresh(ctx, s)
	if err != nil {
		return nil, err
	}
	if r, err = s.exportGit(ctx, r); err != nil {
		return nil, err
	}
	s.remember(r.Operation.ID)
	list, err := targets(r, in)
	if err == nil {
		err = moved(ctx, url, in, list)
	}
	if err != nil {
		return nil, err
	}
	args := pushFlags(local)
	var specs []string
	for _, t := range list {
		ref := "refs/heads/" + t.name
		args = append(args, "--force-with-lease="+ref+":"+t.lease)
		specs = append(specs, t.at+":"+ref)
	}
	return slices.Concat(args, []string{in.remote()}, specs), nil
}

// gitFetch brings in what a remote has.
func (h *Host) gitFetch(ctx context.Context, in GitIn) (GitOut, error) {
	s, err := h.find(ctx, in.Repo)
	if err != nil {
		return GitOut{}, err
	}
	url, local, err := s.address(ctx, in.remote())
	if err == nil {
		err = moved(ctx, url, in, nil)
	}
	if err != nil {
		return GitOut{}, err
	}
	return h.git(ctx, s, local, fetchArgs(in.remote())...)
}

// What runs at the other end is said here, since the repository's configuration
// may name other programs, which for a remote on this machine run here. There it
// does not inherit our settings, and the hooks of that repository may be
// anybody's, so that it is told them again.
func pushFlags(local bool) []string {
	receive := "git-receive-pack"
	if local {
		receive = "git -c core.hooksPath=" + os.DevNull + " -c core.fsmonitor=false -c core.alternateRefsCommand=true" +
			" -c receive.autogc=false -c receive.denyCurrentBranch=refuse receive-pack"
	}
	return []string{"push", "--porcelain", "--no-signed", "--recurse-submodules=no", "--receive-pack=" + receive}
}

// upload-pack is made for repositories of strangers: it has no hooks, and takes
// the program that packs from the user's own configuration alone.
func fetchArgs(remote string) []string {
	return []string{"fetch", "--prune", "--no-write-fetch-head", "--no-recurse-submodules", "--upload-pack=git-upload-pack", remote}
}

// address is where git reaches a remote with these flags, and whether that is
// on this machine.
func (s *served) address(ctx context.Context, remote string, flags ...string) (url string, local bool, err error) {
	if err := s.refuseUnsafe(ctx); err != nil {
		return "", false, err
	}
	cmd, err := s.safeGit(ctx, slices.Concat([]string{"remote", "get-url"}, flags, []string{remote})...)
	if err != nil {
		return "", false, err
	}
	said, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return "", false, fault.New(fault.NotFound, "repo.git", "the server's repository has no remote %q", remote).
			WithNext("add it in the served folder: git remote add %s ADDRESS", remote)
	}
	if err != nil {
		return "", false, ended(err)
	}
	urls := strings.Split(strings.TrimSpace(string(said)), "\n")
	return strings.Join(withoutUsers(urls), "\n"), !slices.ContainsFunc(urls, func(url string) bool { return !onThisMachine(url) }), nil
}

// withoutUsers are addresses as they may be shown and kept: what stands before the host is often a token.
func withoutUsers(urls []string) (out []string) {
	for _, u := range urls {
		if scheme, rest, ok := strings.Cut(u, "://"); ok && scheme != "ssh" {
			host, path, _ := strings.Cut(rest, "/")
			u = scheme + "://" + host[strings.LastIndexByte(host, '@')+1:] + "/" + path
		}
		out = append(out, u)
	}
	return out
}

// onThisMachine says whether git takes an address for a path: nothing before the
// first slash may name a host or a protocol.
func onThisMachine(url string) bool {
	head, _, _ := strings.Cut(url, "/")
	return strings.HasPrefix(url, "file://") || filepath.VolumeName(url) != "" || !strings.Contains(head, ":")
}

// protocols are those that git may use for a remote that is on this machine, or
// for one that is not: its address may have changed since it was looked at.
func protocols(local bool) string {
	allowed, set := os.LookupEnv("GIT_ALLOW_PROTOCOL")
	if !set {
		allowed = allProtocols
	}
	return strings.Join(slices.DeleteFunc(strings.Split(allowed, ":"), func(p string) bool { return (p == "file") != local }), ":")
}

// git runs git in the server's repository with the server's own credentials,
// and takes in what it did to refs. A remote may take minutes to answer, and
// pushes go on meanwhile.
func (h *Host) git(ctx context.Context, s *served, local bool, args ...string) (GitOut, error) {
	patient, cancel := context.WithTimeout(ctx, gitTime)
	defer cancel()
	cmd, err := s.safeGit(patient, args...)
	if err != nil {
		return GitOut{}, err
	}
	cmd.Env = append(cmd.Env, "GIT_ALLOW_PROTOCOL="+protocols(local))
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err = ended(cmd.Run())
	if err := h.takeRefs(ctx, s); err != nil {
		return GitOut{}, err
	}
	text := strings.TrimSpace(said.String())
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if patient.Err() != nil {
			text = "it took longer than " + gitTime.String()
		}
		return GitOut{}, fault.New(fault.Conflict, "repo.git", "git %s failed: %s", args[0], text).
			WithNext("see the remote's address in the server's repository: git remote -v")
	}
	return GitOut{Said: text}, err
}
