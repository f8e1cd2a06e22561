package agents

// alive knows no agent here: without tmux none is opened, so whatever a file says is of a program that is not ours.
func alive(Registered) bool { return false }
