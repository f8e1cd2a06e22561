// Package tool owns the contract between a session and what its agent can do: a tool describes itself, turns arguments
// into a Plan that says exactly what would be touched, and runs the plan. It also owns the scope of files: folders that a
// person granted, opened through os.Root, without the files that hold keys.
//
// A tool decides nothing. Whether a plan may run is the gate's decision, made on Plan.Resource and Plan.Touch; a plan
// runs only after it. What even the gate cannot allow is refused here: paths outside the granted folders, writing into
// read-only ones, and sensitive files (see Sensitive).
//
// What a tool returns is data for the model, never an instruction to the runtime.
package tool
