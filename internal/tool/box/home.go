package box

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// What a person's shell, git, ssh and desktop run or read by themselves, in a home folder. What is in a folder counts as well.
var (
	homeFiles = []string{".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zshenv",
		".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc",
		".inputrc", ".pam_environment", ".xprofile", ".xinitrc", ".xsession", ".xsessionrc", ".gitconfig", ".jjconfig.toml", ".hgrc",
		".tmux.conf", ".screenrc", ".vimrc", ".exrc", ".emacs", ".gdbinit", ".curlrc", ".wgetrc",
		".ssh/config", ".ssh/rc", ".ssh/environment", ".ssh/authorized_keys", ".ssh/authorized_keys2", ".config/git/config",
		".config/git/attributes", ".config/jj/config.toml", ".config/hg/hgrc",
		".config/fish/config.fish", ".config/nvim/init.lua", ".config/nvim/init.vim", ".config/tmux/tmux.conf", ".config/direnv/direnvrc",
		".config/environment.d", ".cargo/config.toml", ".npmrc", ".config/pip/pip.conf"}
	homeFolders = []string{".config/autostart", ".config/systemd/user", ".local/share/systemd/user", ".config/fish/conf.d",
		".config/fish/functions", ".config/environment.d", ".local/bin", "bin"}
)

// addHome adds what runs by itself in a home folder that lies at a place in the root.
func (k *Known) addHome(root *os.Root, home string) {
	k.add(root, below(home, homeFiles)...)
	for _, dir := range below(home, homeFolders) {
		entries, _ := fs.ReadDir(root.FS(), dir) // most are not there
		for _, e := range entries {
			k.add(root, path.Join(dir, e.Name()))
		}
	}
}

// isHome says whether a path is what a home folder runs by itself.
func isHome(home, p string) bool {
	if home == "" {
		return false
	}
	for _, f := range below(home, homeFiles) {
		if p == f {
			return true
		}
	}
	for _, d := range below(home, homeFolders) {
		if path.Dir(p) == d {
			return true
		}
	}
	return false
}

// home keeps what runs by itself in a person's home that lies in a folder. What is not there yet is found when it was made.
func (k *keeper) home(folder, home string) {
	if home == "" || !Below(folder, home) {
		return
	}
	for _, f := range homeFiles {
		k.read(filepath.Join(home, filepath.FromSlash(f)))
	}
	for _, d := range homeFolders {
		if at := filepath.Join(home, filepath.FromSlash(d)); isDir(at) {
			k.found[at] = Mount{From: at}
		}
	}
}
