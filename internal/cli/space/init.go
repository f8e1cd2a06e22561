package space

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/fault"
)

func newInit(k *kit.Kit) *cobra.Command {
	return &cobra.Command{Use: "init [FOLDER]", Short: "Write .mcp.json, so that agents in this project can use spaces",
		Long:    "Write the MCP server intandem into .mcp.json of a project. What else is in that file stays as it is.",
		Example: "  tandem space init", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			folder := "."
			if len(args) == 1 {
				folder = args[0]
			}
			path := filepath.Join(folder, ".mcp.json")
			if err := addServer(path, program()); err != nil {
				return err
			}
			fmt.Fprintf(k.Out, "%s: added the MCP server \"intandem\" (tandem mcp)\nStart your agent here, then tell it: Create an intandem workspace called …\n", path)
			return nil
		}}
}

// program is how an agent starts us: by name when that finds this program.
func program() string {
	self, err := os.Executable()
	if err != nil {
		return "tandem"
	}
	if found, err := exec.LookPath("tandem"); err == nil {
		a, errA := filepath.EvalSymlinks(found)
		b, errB := filepath.EvalSymlinks(self)
		if errA == nil && errB == nil && a == b {
			return "tandem"
		}
	}
	return self
}

// addServer puts our server into an .mcp.json and keeps the rest.
func addServer(path, command string) error {
	file := map[string]json.RawMessage{}
	servers := map[string]json.RawMessage{}
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("read %s: %w", path, err)
	}
	if err == nil {
		bad := fault.New(fault.Invalid, "space.init", "%s is not a JSON object with mcpServers; it was left as it is", path).WithNext("mend it, then run this again")
		if json.Unmarshal(data, &file) != nil {
			return bad
		}
		if old, ok := file["mcpServers"]; ok && json.Unmarshal(old, &servers) != nil {
			return bad
		}
	}
	ours, err := json.Marshal(map[string]any{"command": command, "args": []string{"mcp"}})
	if err != nil {
		return err
	}
	servers["intandem"] = ours
	if file["mcpServers"], err = json.Marshal(servers); err != nil {
		return err
	}
	out, err := json.MarshalIndent(file, "", "  ")
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".mcp-*.json")
	if err != nil {
		return fault.New(fault.Unavailable, "space.init", "cannot write to %s: %w", filepath.Dir(path), err)
	}
	defer os.Remove(tmp.Name())
	if _, err := tmp.Write(append(out, '\n')); err != nil {
		return errors.Join(err, tmp.Close())
	}
	return errors.Join(tmp.Chmod(0o644), tmp.Sync(), tmp.Close(), os.Rename(tmp.Name(), path))
}
