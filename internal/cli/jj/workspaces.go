package jj

import (
	"os"
	"path/filepath"

	"google.golang.org/protobuf/encoding/protowire"
)

// namedPath is a workspace and where it lies, relative to .jj/repo.
type namedPath struct{ name, path string }

func (w *wsEnv) workspaceIndex() string {
	return filepath.Join(w.ws.repoDir, "workspace_store", "index")
}

// readWorkspaces lists the recorded paths of workspaces.
func readWorkspaces(path string) ([]namedPath, error) {
	data, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []namedPath
	for len(data) > 0 {
		num, typ, n := protowire.ConsumeTag(data)
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		data = data[n:]
		if num != 1 || typ != protowire.BytesType {
			if n = protowire.ConsumeFieldValue(num, typ, data); n < 0 {
				return nil, protowire.ParseError(n)
			}
			data = data[n:]
			continue
		}
		item, n := protowire.ConsumeBytes(data)
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		data = data[n:]
		np, err := readNamedPath(item)
		if err != nil {
			return nil, err
		}
		out = append(out, np)
	}
	return out, nil
}

func readNamedPath(b []byte) (namedPath, error) {
	var np namedPath
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return np, protowire.ParseError(n)
		}
		b = b[n:]
		if typ == protowire.BytesType && (num == 1 || num == 2) {
			v, n := protowire.ConsumeBytes(b)
			if n < 0 {
				return np, protowire.ParseError(n)
			}
			if num == 1 {
				np.name = string(v)
			} else {
				np.path = string(v)
			}
			b = b[n:]
			continue
		}
		if n = protowire.ConsumeFieldValue(num, typ, b); n < 0 {
			return np, protowire.ParseError(n)
		}
		b = b[n:]
	}
	return np, nil
}

func writeWorkspaces(path string, list []namedPath) error {
	var out []byte
	for _, np := range list {
		var item []byte
		item = protowire.AppendTag(item, 1, protowire.BytesType)
		item = protowire.AppendString(item, np.name)
		item = protowire.AppendTag(item, 2, protowire.BytesType)
		item = protowire.AppendString(item, np.path)
		out = protowire.AppendTag(out, 1, protowire.BytesType)
		out = protowire.AppendBytes(out, item)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	tmp := path + ".new"
	if err := os.WriteFile(tmp, out, 0o666); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

// recordWorkspace remembers where a workspace lies.
func recordWorkspace(repoDir, name, root string) error {
	index := filepath.Join(repoDir, "workspace_store", "index")
	list, err := readWorkspaces(index)
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(repoDir, root)
	if err != nil {
		rel = root
	}
	out := list[:0:0]
	for _, np := range list {
		if np.name != name {
			out = append(out, np)
		}
	}
	return writeWorkspaces(index, append(out, namedPath{name, filepath.ToSlash(rel)}))
}

// workspacePath is where a workspace lies, or "".
func (w *wsEnv) workspacePath(name string) (string, error) {
	list, err := readWorkspaces(w.workspaceIndex())
	if err != nil {
		return "", err
	}
	for _, np := range list {
		if np.name == name {
			if filepath.IsAbs(np.path) {
				return np.path, nil
			}
			return filepath.Join(w.ws.repoDir, filepath.FromSlash(np.path)), nil
		}
	}
	return "", nil
}
