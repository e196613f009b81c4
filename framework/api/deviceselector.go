package api

// A DeviceSelectorCompiler compiles the conditions that device classes and claims put on
// devices. They are written in the Common Expression Language. Plugins have a built-in
// compiler for the expressions that drivers usually need; plug in another one for the
// full language.
//
// It must be comparable with ==, safe for concurrent use, and give equal programs for
// equal texts. The error says why the text is not valid.
type DeviceSelectorCompiler interface {
	CompileDeviceSelector(expression string) (CompiledDeviceSelector, error)
}

// A CompiledDeviceSelector is a compiled condition. It must be safe for concurrent use, and its
// answer must depend on the arguments alone. The error is an error of the evaluation. It should
// bound what an evaluation costs, because plugins count all evaluations alike, unless it is a
// [MeteredDeviceSelector].
type CompiledDeviceSelector interface {
	MatchesDevice(driver string, device *Device) (bool, error)
}

// A MeteredDeviceSelector says what an evaluation has cost. The search for devices counts it, and
// ends when it has cost too much.
type MeteredDeviceSelector interface {
	CompiledDeviceSelector
	// MeterDevice is MatchesDevice and returns how many steps it took, of about 0.1 us. They must
	// depend on the arguments alone.
	MeterDevice(driver string, device *Device) (matches bool, steps int, err error)
}
