package gitstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"google.golang.org/protobuf/encoding/protowire"
)

// Workspace is where a workspace of this repository lies on this machine.
type Workspace struct {
	Name string
	Path string // relative to the repository's directory, or absolute
}

func (s *Store) workspacesPath() string { return filepath.Join(s.dir, "workspace_store", "index") }

// Workspaces lists the workspaces whose folders are known here.
func (s *Store) Workspaces() ([]Workspace, error) {
	data, err := os.ReadFile(s.workspacesPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return decodeWorkspaces(data)
}

func decodeWorkspaces(data []byte) (out []Workspace, err error) {
	each := func(b []byte, handle func(num protowire.Number, v []byte) error) error {
		for len(b) > 0 {
			num, typ, n := protowire.ConsumeTag(b)
			if n < 0 {
				return protowire.ParseError(n)
			}
			m := protowire.ConsumeFieldValue(num, typ, b[n:])
			if m < 0 {
				return protowire.ParseError(m)
			}
			if typ == protowire.BytesType {
				v, _ := protowire.ConsumeBytes(b[n:])
				if err := handle(num, v); err != nil {
					return err
				}
			}
			b = b[n+m:]
		}
		return nil
	}
	err = each(data, func(num protowire.Number, v []byte) error {
		if num != 1 {
			return nil
		}
		var w Workspace
		err := each(v, func(num protowire.Number, v []byte) error {
			switch num {
			case 1:
				w.Name = string(v)
			case 2:
				w.Path = string(v)
			}
			return nil
		})
		out = append(out, w)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("workspace_store: %w", err)
	}
	return out, nil
}

// SetWorkspaces changes the list of known workspaces under jj's lock.
func (s *Store) SetWorkspaces(ctx context.Context, change func([]Workspace) []Workspace) error {
	if err := os.MkdirAll(filepath.Dir(s.workspacesPath()), 0o777); err != nil {
		return err
	}
	l, err := lockFile(ctx, s.workspacesPath()+".lock")
	if err != nil {
		return err
	}
	defer l.unlock()
	list, err := s.Workspaces()
	if err != nil {
		return err
	}
	return writeFile(s.workspacesPath(), encodeWorkspaces(change(list)), 0o666&^umask())
}

func encodeWorkspaces(list []Workspace) (b []byte) {
	for _, w := range list {
		e := protowire.AppendTag(nil, 1, protowire.BytesType)
		e = protowire.AppendString(e, w.Name)
		e = protowire.AppendTag(e, 2, protowire.BytesType)
		e = protowire.AppendString(e, w.Path)
		b = protowire.AppendTag(b, 1, protowire.BytesType)
		b = protowire.AppendBytes(b, e)
	}
	return b
}
