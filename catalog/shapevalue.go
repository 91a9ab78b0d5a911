package catalog

// What stands for a value in a shape. Each says of itself what a schema says of
// it; the reader's own judgement is finer.
//
// either is a value of one of two forms, such as either[sheetShape, []sheetShape].
type either[A, B any] struct {
	A A
	B B
}

type (
	one            struct{} // the number 1
	yes            struct{} // true
	scalar         struct{} // a text, a number or a truth
	anyName        string   // a key that may be any name
	nameText       string   // a name, taken by its text
	text           string
	slug           string
	tenantID       string
	addressText    string
	hostPort       string
	envName        string
	currencyText   string
	rateText       string
	dayText        string
	momentText     string
	feeText        string
	timesText      string
	daysText       string
	hourText       string
	sizeText       string
	shareText      string
	sumText        string
	tokens         int64
	manyCount      int64
	unitWord       string
	apiWord        string
	conventionWord string
	ourMember      string
	familyWord     string
	hintMemberWord string
	formWord       string
	sortWord       string
	weightText     string
	gateWord       string
	precedenceWord string
	cacheTTLWord   string
	logLevelWord   string
	metadataWord   string
	clientLeftWord string
	profileWord    string
	subagentsWord  string
	sourceWord     string
	checkWord      string
)
