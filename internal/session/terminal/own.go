package terminal

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/session/agents"
	"tandem/internal/tool/box"
	"tandem/internal/wholefile"
)

// ownHome is the folder that a confined session has for its home. It lies beside the session's folder, which the program cannot write to.
func (s *seat) ownHome() string { return s.folder() + ".home" }

// homeAt is where the program sees its home: where the person's is, or apart when it works in the person's.
func (s *seat) homeAt() string {
	switch {
	case s.stage != nil:
		return s.stage.Home
	case s.row.Own && box.Below(s.row.Folder, s.d.Home):
		return filepath.Join(s.ownHome(), "home")
	}
	return s.d.Home
}

// configAt is where the program sees its state folder.
func (s *seat) configAt() string {
	if rel, err := filepath.Rel(s.d.Home, s.row.Config); s.row.Own && err == nil && box.Below(s.d.Home, s.row.Config) {
		return filepath.Join(s.homeAt(), rel)
	}
	return s.row.Config
}

// host is a path of the program's home as it lies on this machine. The state folder lies apart: its parents in the home belong to the
// agent, who could turn one of them into a link to somewhere else on this machine.
func (s *seat) host(path string) string {
	if !s.row.Own {
		return path
	}
	for _, part := range [][2]string{{s.configAt(), "state"}, {s.homeAt(), "home"}} {
		if rel, err := filepath.Rel(part[0], path); err == nil && box.Below(part[0], path) {
			return filepath.Join(s.ownHome(), part[1], rel)
		}
	}
	return path
}

// furnish makes the session's home, with the person's sign-in and without what renews it.
func (s *seat) furnish(ctx context.Context) error {
	for _, dir := range []string{s.host(s.homeAt()), s.host(s.configAt())} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	if err := s.clear(); err != nil {
		return err
	}
	if err := s.bringBack(); err != nil {
		return err
	}
	notRenewed := s.d.renews.Renew(ctx, s.row.Agent, s.row.Config)
	if notRenewed != nil {
		s.d.log.Warn("a sign-in was not renewed", "agent", s.row.Agent, "err", notRenewed)
	}
	ends, err := s.lendSignIn()
	if err == nil && !ends.IsZero() && time.Now().After(ends) && !agents.SignedIn(s.row.Agent, s.d.Env) {
		return fault.New(fault.Conflict, "session.open",
			"the sign-in of %s ran out at %s, and could not be renewed for the session (%s): what renews it works once, so no session gets it",
			s.row.Agent, ends.Format(time.DateTime),
			because(notRenewed)).WithNext("start %s once yourself, or %s", s.row.Agent, agents.Lasts(s.row.Agent))
	}
	s.lent = ends
	return err
}

// unrenewed is said of a session with OpenCode whose sign-in ends: its plugins know the issuers, and nobody here does.
func (s *seat) unrenewed() string {
	if s.row.Agent != agents.OpenCodeName || s.lent.IsZero() {
		return ""
	}
	return "; its sign-in ends at " + s.lent.UTC().Format(time.DateTime) + " UTC and is not renewed for it, for what renews it works once: " +
		"for longer, " + agents.Lasts(agents.OpenCodeName)
}

// because is why a sign-in was not renewed.
func because(err error) string {
	if err == nil {
		return "it holds nothing that renews it, or its issuer refused before"
	}
	return err.Error()
}

// clear removes links that the agent put where something of the person's will be mounted in its home: the mount would lie elsewhere.
func (s *seat) clear(more ...string) error {
	root, err := os.OpenRoot(s.host(s.homeAt()))
	if err != nil {
		return err
	}
	defer root.Close()
	places := append([]string{s.configAt()}, more...)
	for _, b := range agents.Brings(s.row.Agent, s.row.Config, s.d.Home) {
		places = append(places, s.seenAt(b.Path))
	}
	for _, p := range places {
		rel, err := filepath.Rel(s.homeAt(), p)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		way := ""
		for part := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
			way = filepath.Join(way, part)
			if st, err := root.Lstat(way); err == nil && st.Mode()&os.ModeSymlink != 0 {
				if err := root.Remove(way); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// seenAt is where the program sees something of the person's.
func (s *seat) seenAt(path string) string {
	for _, move := range [][2]string{{s.row.Config, s.configAt()}, {s.d.Home, s.homeAt()}} {
		if rel, err := filepath.Rel(move[0], path); err == nil && box.Below(move[0], path) {
			return filepath.Join(move[1], rel)
		}
	}
	return path
}

// maxSignIn bounds a sign-in that is read, and maxTalk a conversation that is carried over.
const (
	maxSignIn = 1 << 20
	maxTalk   = 256 << 20
)

// lendSignIn puts the person's sign-in as it is now into the session. Nothing of it ever goes the other way.
func (s *seat) lendSignIn() (ends time.Time, err error) {
	from, to := agents.SignInFile(s.row.Agent, s.row.Config), s.host(agents.SignInFile(s.row.Agent, s.configAt()))
	data, err := readSmall(from, maxSignIn)
	if os.IsNotExist(err) {
		return ends, nil
	}
	if err != nil {
		return ends, err
	}
	lent, ends, err := agents.SignIn(s.row.Agent, data)
	if err != nil {
		return ends, fault.New(fault.Unavailable, "session.open", "%s cannot be read: %w", from, err).
			WithNext("start %s once by hand, and sign in", s.row.Agent)
	}
	if same, err := readSmall(to, maxSignIn); err == nil && bytes.Equal(same, lent) {
		return ends, nil
	}
	// The place may be a link that the agent made: it is replaced and never followed.
	return ends, wholefile.Write(to, lent)
}

func readSmall(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

// recorded says that there is a record from which the conversation can be resumed: a program that is killed in its first turn may not have
// written one, and refuses to go on with what it does not know.
func (s *seat) recorded() bool {
	for _, config := range []string{s.row.Config, s.host(s.configAt())} {
		for _, rel := range agents.Conversations(s.row.Agent, config, s.row.Folder, s.row.Conversation) {
			path := filepath.Join(config, rel)
			if _, err := os.Stat(path); err != nil {
				continue
			}
			file := agents.Transcript{Path: path}
			if s.row.Own && config != s.row.Config {
				file.Root = config // an agent can make links there
			}
			if s.row.Agent != agents.ClaudeName || file.Begun() {
				return true
			}
		}
	}
	return false
}

// bringBack gives a conversation that is resumed to a home that does not have it yet.
func (s *seat) bringBack() error {
	if !s.row.Begun {
		return nil
	}
	own, err := os.OpenRoot(s.host(s.configAt()))
	if err != nil {
		return err
	}
	defer own.Close()
	for _, rel := range agents.Conversations(s.row.Agent, s.row.Config, s.row.Folder, s.row.Conversation) {
		if _, err := own.Lstat(rel); err == nil {
			continue
		}
		data, err := readSmall(filepath.Join(s.row.Config, rel), maxTalk)
		if os.IsNotExist(err) {
			continue
		}
		if err == nil {
			err = own.MkdirAll(filepath.Dir(rel), 0o700)
		}
		if err == nil {
			err = own.WriteFile(rel, data, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tend carries between a live session's home and the person's, now and then: a sign-in that was renewed comes in, and what was said in
// the session's own conversation goes out, so that the person's program can resume it.
func (s *seat) tend(ctx context.Context) {
	if !s.row.Own || time.Since(s.tended) < 5*time.Second {
		return
	}
	s.tended = time.Now()
	if s.d.renews.Due(s.row.Agent, s.row.Config) {
		agent, config := s.row.Agent, s.row.Config
		s.d.all.Go(func() {
			if err := s.d.renews.Renew(ctx, agent, config); err != nil {
				s.d.log.Warn("a sign-in was not renewed", "agent", agent, "err", err)
			}
		})
	}
	if _, err := s.lendSignIn(); err != nil {
		s.d.log.Warn("lend a sign-in", "session", s.row.Session, "err", err)
	}
	s.carryOut()
}

// carryOut adds to the person's copy of the session's conversation what is new. A copy that went another way is left alone.
func (s *seat) carryOut() {
	if !s.row.Own {
		return
	}
	own := s.host(s.configAt())
	root, err := os.OpenRoot(own) // a link that leads out of the session's home is not followed
	if err != nil {
		return
	}
	defer root.Close()
	for _, rel := range agents.Conversations(s.row.Agent, own, s.row.Folder, s.row.Conversation) {
		if err := grow(root, rel, filepath.Join(s.row.Config, rel)); err != nil && !os.IsNotExist(err) {
			s.d.log.Warn("keep a conversation", "session", s.row.Session, "err", err)
		}
	}
}

func grow(root *os.Root, rel, to string) error {
	st, err := root.Lstat(rel)
	if err != nil || !st.Mode().IsRegular() || st.Size() > maxTalk {
		return err
	}
	if there, err := os.Stat(to); err == nil && there.Size() >= st.Size() {
		return nil
	}
	from, err := root.Open(rel)
	if err != nil {
		return err
	}
	defer from.Close()
	data, err := io.ReadAll(io.LimitReader(from, maxTalk))
	if err != nil {
		return err
	}
	data = data[:bytes.LastIndexByte(data, '\n')+1] // whole lines only
	had, err := os.ReadFile(to)
	switch {
	case err != nil && !os.IsNotExist(err):
		return err
	case !bytes.HasPrefix(data, had) || len(data) == len(had):
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(to, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data[len(had):])
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// homeMounts are the session's home, its state folder as a mount of its own, which cannot be moved aside, and over it what the person
// set up, read-only.
func (s *seat) homeMounts() ([]box.Mount, error) {
	home, config := s.homeAt(), s.configAt()
	out := []box.Mount{{From: s.host(home), At: home, Write: true}, {From: s.host(config), At: config, Write: true}}
	for _, b := range agents.Brings(s.row.Agent, s.row.Config, s.d.Home) {
		at := s.seenAt(b.Path)
		_, err := os.Stat(b.Path)
		switch {
		case err == nil && !s.apart(b.Path):
			return nil, fault.New(fault.Conflict, "session.open", "%s leads into the session's folder, where the agent could change it", b.Path).
				WithNext("put it elsewhere")
		case err == nil:
			out = append(out, box.Mount{From: b.Path, At: at})
		case b.Guard:
			empty, err := s.standIn(b.Path)
			if err != nil {
				return nil, err
			}
			out = append(out, box.Mount{From: empty, At: at})
		}
	}
	return out, nil
}

// apart says that what a person set up does not lie where the agent writes: a link from ~/.claude into the working folder would be
// changed there, whatever a mount says.
func (s *seat) apart(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	return err == nil && (box.Below(s.row.Folder, s.d.Home) || !box.Below(s.row.Folder, real))
}

// standIn is an empty file or folder of the kind that a path names.
func (s *seat) standIn(path string) (string, error) {
	empty := filepath.Join(s.folder(), "empty"+filepath.Ext(path))
	switch filepath.Ext(path) {
	case ".json", ".jsonc":
		return empty, wholefile.Write(empty, []byte("{}\n"))
	case ".toml":
		return empty, wholefile.Write(empty, nil)
	}
	return empty, os.MkdirAll(empty, 0o700)
}

// withheld are the person's own places of agent programs that lie in the working folder: seen, not changed, and without the sign-ins.
func (s *seat) withheld() (mounts []box.Mount, masks []string) {
	for _, p := range agents.States(s.d.Env, s.d.Home) {
		if real, err := filepath.EvalSymlinks(p); err == nil && box.Below(s.row.Folder, real) {
			mounts = append(mounts, box.Mount{From: real})
			for _, agent := range agents.Names {
				masks = append(masks, agents.SignInFile(agent, real))
			}
		}
	}
	return mounts, masks
}

// notASetting refuses to confine a session to a folder in which agent programs keep their settings: they run outside with them.
func (d *Driver) notASetting(folder, confined string) error {
	for _, p := range agents.States(d.Env, d.Home) {
		if real, err := filepath.EvalSymlinks(p); err == nil && confined == "bwrap" && box.Below(real, folder) {
			return fault.New(fault.Denied, "session.open", "%s holds settings of an agent program, which no confined session may change", folder).
				WithNext("open the session elsewhere, and change the settings yourself")
		}
	}
	return nil
}
