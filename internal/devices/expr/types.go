package expr

// typeKind is a static type, without its parameter.
type typeKind uint8

const (
	kDyn typeKind = iota // known only when the device is
	kBool
	kInt
	kDouble
	kString
	kQuantity
	kVersion
	kList
	kMap // keys are strings
	kOptional
	kDevice
)

var typeNames = [...]string{
	"dyn", "bool", "int", "double", "string", "kubernetes.Quantity", "kubernetes.Semver", "list", "map", "optional_type", "kubernetes.DRADevice",
}

// A typ is the static type of a part of an expression.
type typ struct {
	kind typeKind
	elem *typ // of a list, a map or an optional value
}

var (
	dynType      = &typ{kind: kDyn}
	boolType     = &typ{kind: kBool}
	intType      = &typ{kind: kInt}
	doubleType   = &typ{kind: kDouble}
	stringType   = &typ{kind: kString}
	quantityType = &typ{kind: kQuantity}
	versionType  = &typ{kind: kVersion}
	stringsType  = &typ{kList, stringType}

	deviceType     = &typ{kind: kDevice}
	attributesType = &typ{kMap, &typ{kMap, dynType}}
	capacityType   = &typ{kMap, &typ{kMap, quantityType}}
)

// String returns the name of the type.
func (t *typ) String() string {
	if t.elem == nil {
		return typeNames[t.kind]
	}
	if t.kind == kMap {
		return "map(string, " + t.elem.String() + ")"
	}
	return typeNames[t.kind] + "(" + t.elem.String() + ")"
}

// fits reports whether values of the two types can be the same. dyn fits everything.
func fits(a, b *typ) bool {
	if a.kind == kDyn || b.kind == kDyn {
		return true
	}
	return a.kind == b.kind && (a.elem == nil || fits(a.elem, b.elem))
}

// same reports whether the types are equal.
func same(a, b *typ) bool {
	return a.kind == b.kind && (a.elem == nil || same(a.elem, b.elem))
}
