package jj

import "context"

// completionScripts teach a shell to ask this program how a line can go on.
// The names of the variables are those that other programs of this kind use.
var completionScripts = map[string]string{
	"bash": `_jj_complete() {
    local IFS=$'\013'
    COMPREPLY=($(COMPLETE=bash _CLAP_IFS="$IFS" _CLAP_COMPLETE_INDEX="$COMP_CWORD" jj -- "${COMP_WORDS[@]}" 2>/dev/null)) || unset COMPREPLY
}
complete -o bashdefault -o default -F _jj_complete jj
`,
	"zsh": `#compdef jj
_jj_complete() {
    local -a found
    found=("${(@f)$(COMPLETE=zsh _CLAP_COMPLETE_INDEX=$((CURRENT - 1)) jj -- "${words[@]}" 2>/dev/null)}")
    [[ -n "$found" ]] && _describe 'values' found
}
compdef _jj_complete jj
`,
	"fish": `complete --keep-order --exclusive --command jj --arguments ` +
		`"(COMPLETE=fish jj -- (commandline --current-process --tokenize --cut-at-cursor) (commandline --current-token))"
`,
	"elvish": `set edit:completion:arg-completer[jj] = { |@words|
    put (env COMPLETE=elvish _CLAP_IFS="\n" _CLAP_COMPLETE_INDEX=(to-string (- (count $words) 1)) jj -- $@words) | to-lines
}
`,
	"powershell": `Register-ArgumentCompleter -Native -CommandName jj -ScriptBlock {
    param($word, $line, $cursor)
    $env:COMPLETE = "powershell"
    $typed = $line.Extent.Text.Substring(0, [Math]::Min($cursor, $line.Extent.Text.Length))
    if ($word -eq "") { $typed += " ''" }
    Invoke-Expression "& jj -- $typed" | ForEach-Object {
        $parts = $_.Split("` + "`" + `t")
        [System.Management.Automation.CompletionResult]::new($parts[0], $parts[0], 'ParameterValue', $parts[-1])
    }
    Remove-Item Env:COMPLETE
}
`,
}

const nushellScript = `$env.config.completions.external.completer = {|words|
    with-env { COMPLETE: "fish" } { ^jj -- ...$words } | lines | each {|l| let p = ($l | split row "\t"); ` +
	`{ value: $p.0, description: ($p | get -o 1 | default "") } }
}
`

func runUtilCompletion(_ context.Context, e *env, p *parsed) error {
	switch shell := p.str("shell"); shell {
	case "nushell":
		e.ui.printf("%s", nushellScript)
	case "power-shell":
		e.ui.printf("%s", completionScripts["powershell"])
	default:
		e.ui.printf("%s", completionScripts[shell])
	}
	return nil
}
