package session

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/policy"
	"tandem/internal/tool"
)

// Folder is a folder that a person granted to sessions.
type Folder struct {
	Path      string      `json:"path"`
	ReadOnly  bool        `json:"read_only,omitempty"`
	Outfit    tool.Outfit `json:"outfit,omitzero" jsonschema:"what its commands have beside what was found on the machine"`
	GrantedBy string      `json:"granted_by"`
	CreatedAt time.Time   `json:"created_at"`
}

// FolderIn names a folder.
type FolderIn struct {
	Path     string      `json:"path" jsonschema:"absolute path of the folder"`
	ReadOnly bool        `json:"read_only,omitempty" jsonschema:"its files can be read and not changed"`
	Outfit   tool.Outfit `json:"outfit,omitzero" jsonschema:"what its commands have beside what is found on the machine"`
}

// FolderRevokeIn names a folder that is taken back.
type FolderRevokeIn struct {
	Path     string `json:"path" jsonschema:"absolute path of the folder"`
	ReadOnly bool   `json:"read_only,omitempty" jsonschema:"its files can be read and not changed"` // says nothing here; it was always taken
}

// FoldersOut lists what was granted.
type FoldersOut struct {
	Folders []Folder `json:"folders"`
}

// Nothing is an input without fields.
type Nothing struct{}

// OK says that it was done.
type OK struct {
	OK bool `json:"ok"`
}

func folderAt(path string) op.Resource {
	p := filepath.ToSlash(filepath.Clean(path))
	if !strings.HasPrefix(p, "/") {
		p = "/" + p
	}
	return op.Resource{Kind: "folder", Path: p}
}

func (r *Room) folderOps() []op.Op {
	return []op.Op{
		FolderList.Read(op.Spec{Right: "folder.read", Masked: true, Method: "GET", Path: "/folders",
			Doc: "List the folders that sessions may work in."},
			func(Nothing) op.Resource { return folderAt("/") }, r.listFolders),
		FolderGrant.State(op.Spec{Right: "folder.grant", Method: "POST", Path: "/folders", MCP: "-", Present: true, People: true,
			Doc: "Grant a folder to sessions, for reading and changing or for reading only.\nFiles that may hold keys stay out of reach."},
			func(in FolderIn) op.Resource { return folderAt(in.Path) }, r.grantFolder),
		FolderRevoke.State(op.Spec{Right: "folder.write", Method: "DELETE", Path: "/folders", MCP: "-",
			Doc: "Take a granted folder back. Calls that come after it no longer reach its files."},
			func(in FolderRevokeIn) op.Resource { return folderAt(in.Path) }, r.revokeFolder),
	}
}

func (r *Room) listFolders(ctx context.Context, _ Nothing) (FoldersOut, error) {
	all, err := r.folders(ctx, outside{ctx, r.db}, op.CallerFrom(ctx).Tenant)
	out := FoldersOut{Folders: []Folder{}}
	mine := func(string) bool { return true }
	if name := OpenerOf(op.CallerFrom(ctx)); name != "" && err == nil { // where others work is not a session's to know
		s, err := r.Get(ctx, op.CallerFrom(ctx).Tenant, name)
		if err != nil {
			return out, err
		}
		mine = func(path string) bool { return len(holding([]tool.Folder{{Path: path}}, s.Directory)) > 0 }
	}
	for _, f := range all {
		if mine(f.Path) && op.May(ctx, "folder.read", folderAt(f.Path)) {
			out.Folders = append(out.Folders, f)
		}
	}
	return out, err
}

func (r *Room) grantFolder(ctx context.Context, tx *db.Tx, in FolderIn) (Folder, error) {
	bad := func(format string, args ...any) (Folder, error) {
		return Folder{}, fault.New(fault.Invalid, "folder.grant", format, args...)
	}
	if !filepath.IsAbs(in.Path) {
		return bad("%q is not an absolute path", in.Path)
	}
	real, err := filepath.EvalSymlinks(filepath.Clean(in.Path))
	if err != nil {
		return bad("there is no folder %s", in.Path)
	}
	if st, err := os.Stat(real); err != nil || !st.IsDir() {
		return bad("%s is not a folder", in.Path)
	}
	if real == filepath.VolumeName(real)+string(filepath.Separator) {
		return Folder{}, fault.New(fault.Invalid, "folder.grant", "the whole machine cannot be granted").
			WithNext("grant the folder that the work needs")
	}
	for _, h := range r.Hidden {
		if within(h, real) {
			return bad("%s is tandem's own and cannot be granted", real)
		}
	}
	if tool.Sensitive(real) {
		return bad("%s may hold keys or passwords and cannot be granted", real)
	}
	c := op.CallerFrom(ctx)
	outfit, err := r.outfitted(real, in.Outfit)
	if err != nil {
		return Folder{}, err
	}
	f := Folder{Path: real, ReadOnly: in.ReadOnly, Outfit: outfit, GrantedBy: c.Name, CreatedAt: tx.Now()}
	_, err = tx.Exec(`INSERT INTO session_folder (tenant, path, read_only, granted_by, created_at, outfit) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (tenant, path) DO UPDATE SET read_only = excluded.read_only, granted_by = excluded.granted_by,
		created_at = excluded.created_at, outfit = excluded.outfit`,
		c.Tenant, f.Path, f.ReadOnly, f.GrantedBy, f.CreatedAt, f.worn())
	op.Row(ctx, f.seal(c.Tenant))
	return f, err
}

func (r *Room) revokeFolder(ctx context.Context, tx *db.Tx, in FolderRevokeIn) (OK, error) {
	tenant, path := op.CallerFrom(ctx).Tenant, filepath.Clean(in.Path)
	n, err := tx.Changed("DELETE FROM session_folder WHERE tenant = ? AND path = ?", tenant, path)
	if err == nil && n == 0 && !r.Vouch.Knows(tenant, folderSubject(path)) { // its row may be gone, and the journal's word not
		err = fault.New(fault.NotFound, "folder.revoke", "%s was not granted", in.Path).WithNext("list what was: tandem grant list")
	}
	op.Seal(ctx, folderSubject(path))
	return OK{err == nil}, err
}

// folders are those that people granted, as far as the journal vouches for them.
func (r *Room) folders(ctx context.Context, q reader, tenant string) ([]Folder, error) {
	rows, err := q.rows("SELECT "+folderColumns+" FROM session_folder WHERE tenant = ? ORDER BY path", tenant)
	all, err := db.Collect(rows, err, func(rows *sql.Rows) (Folder, error) { return scanFolder(rows) })
	return slices.DeleteFunc(all, func(f Folder) bool { return !r.Vouch.Holds(ctx, f.seal(tenant)) }), err
}

// granted are the same as tools take them, with the checkouts that were made of repositories in them.
func (r *Room) granted(ctx context.Context, q reader, tenant string) ([]tool.Folder, error) {
	all, err := r.folders(ctx, q, tenant)
	var out []tool.Folder
	for _, f := range all {
		out = append(out, tool.Folder{Path: f.Path, ReadOnly: f.ReadOnly, Outfit: f.Outfit})
	}
	if err != nil {
		return nil, err
	}
	return r.withCheckouts(ctx, q, tenant, out)
}

// Outfit is what a person gave the commands of a folder: that of the innermost granted folder which holds it and has one.
func (r *Room) Outfit(ctx context.Context, tenant, dir string) (tool.Outfit, error) {
	all, err := r.granted(ctx, outside{ctx, r.db}, tenant)
	if err != nil {
		return tool.Outfit{}, err
	}
	return tool.NewScope(holding(all, dir)).Outfit(), nil
}

// Scope is the files of a session: the granted folders that hold its directory, and those of every session with a model that opened it.
// Without such a folder it has none.
func (r *Room) Scope(ctx context.Context, s *Session) (*tool.Scope, error) {
	all, err := r.granted(ctx, outside{ctx, r.db}, s.Tenant)
	if err != nil {
		return nil, err
	}
	mine := s.narrowed(holding(all, s.Directory))
	up, err := r.Lineage(ctx, s)
	if err != nil {
		return nil, err
	}
	for _, opener := range up {
		if opener.Driver == DriverModel {
			mine = opener.narrowed(holding(mine, opener.Directory))
		}
	}
	return tool.NewScope(mine, r.Hidden...), nil
}

// holding are the folders in which a directory lies.
func holding(all []tool.Folder, dir string) []tool.Folder {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	var out []tool.Folder
	for _, f := range all {
		if dir != "" && within(f.Path, dir) {
			out = append(out, f)
		}
	}
	return out
}

// narrowed are the folders of a session: of one that has only what is named its own, and no more of the granted ones that hold it. Where
// its name leads through a link there is none, for whoever may write beside it chose where that leads.
func (s *Session) narrowed(around []tool.Folder) []tool.Folder {
	if !s.Config.Narrow || len(around) == 0 {
		return around
	}
	real, err := filepath.EvalSymlinks(s.Directory)
	if err != nil || real != filepath.Clean(s.Directory) {
		return nil
	}
	inner := tool.NewScope(around).Folders()[0]
	return []tool.Folder{{Path: real, ReadOnly: inner.ReadOnly, Outfit: tool.NewScope(around).Outfit()}}
}

// seeing is a scope as the caller of ctx sees it with a tool. Without a house nobody can say what policy keeps from it, so nothing is
// there.
func (r *Room) seeing(ctx context.Context, scope *tool.Scope, name string) (*tool.Scope, error) {
	if r.house.Sight == nil {
		return tool.NewScope(nil), nil
	}
	sight, err := SightOf(r.house.Sight(ctx, name))
	if err != nil {
		return nil, err
	}
	return scope.Seeing(sight), nil
}

// SightOf is policy's sight as a scope asks it.
func SightOf(sight *policy.Sight, err error) (*tool.Sight, error) {
	if err != nil {
		return nil, err
	}
	return &tool.Sight{Of: func(path string) tool.Seen { return tool.Seen(sight.Of(path)) }, Edges: sight.Edges}, nil
}

func within(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
