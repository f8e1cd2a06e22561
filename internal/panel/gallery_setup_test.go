package panel

import "tandem/internal/panel/ui"

// Sample data for the page of the first steps.

func sampleSetup() SetupView {
	return SetupView{Program: "tandem", PINSet: true, Agents: []string{"claude", "codex"}, Tmux: true, Default: "local/echo-1", Echo: true,
		Ready:    []string{"openai/gpt-5"},
		Offered:  []ui.Option{{Value: "anthropic https://api.anthropic.com", Label: "Anthropic, at https://api.anthropic.com", Chosen: true}},
		MayGrant: true, MayKey: true, MayTurn: true, PIN: true}
}

func doneSetup() SetupView {
	v := sampleSetup()
	v.Passkeys, v.Folders, v.Echo, v.Default, v.Turns = 1, []string{"/home/me/src/atlas"}, false, "anthropic/claude-sonnet-4-5", 1
	return v
}
