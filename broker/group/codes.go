package group

// Code is an error code of Kafka's protocol, as the answers of this package carry it.
type Code = int16

// The codes that a group coordinator answers with.
const (
	none                      Code = 0
	offsetMetadataTooLarge    Code = 12
	illegalGeneration         Code = 22
	inconsistentGroupProtocol Code = 23
	invalidGroupID            Code = 24
	unknownMemberID           Code = 25
	invalidSessionTimeout     Code = 26
	rebalanceInProgress       Code = 27
	unknownServerError        Code = -1
	nonEmptyGroup             Code = 68
	groupIDNotFound           Code = 69
	memberIDRequired          Code = 79
	groupMaxSizeReached       Code = 81
	fencedInstanceID          Code = 82
	groupSubscribedToTopic    Code = 86
	unsupportedVersion        Code = 35
	invalidRequest            Code = 42
	fencedMemberEpoch         Code = 110
	unreleasedInstanceID      Code = 111
	unsupportedAssignor       Code = 112
	staleMemberEpoch          Code = 113
	invalidRegularExpression  Code = 128
	unstableOffsetCommit      Code = 88
)
