// The words of the built-in stories. The notation is in docs/data.md.
//
// No word of a list begins another word of the same list: that is what keeps the grammar unambiguous. Words
// are short and lists long, so that much of the text is a choice and little of it a consequence.
#include "data/stories/stories_source.h"

namespace cladtorch::data {

const char* const story_words = R"grammar(
table hero name kind He he his
  Pip  | mouse | He  | he  | his
  Nell | hen   | She | she | her
  Otto | otter | He  | he  | his
  Fern | fox   | She | she | her
  Bram | bear  | He  | he  | his
  Meg  | goat  | She | she | her
  Hugo | frog  | He  | he  | his
  Dot  | duck  | She | she | her
  Jack | crow  | He  | he  | his
  Tess | mole  | She | she | her
  Rolf | hare  | He  | he  | his
  Ada  | owl   | She | she | her

# Whom the hero meets; none is of a hero's kind.
table friend kind
  badger
  toad
  swan
  deer
  newt
  rabbit
  stork
  pony
  lamb
  cat
  wolf
  hedgehog

# What is lost and found.
table thing name
  kite
  bell
  lamp
  drum
  scarf
  flute
  hat
  key
  cup
  map
  spoon
  ring
  boat
  umbrella
  jug
  violin

words look
  red blue green pink grey black white brown golden silver purple yellow old new odd big tiny small little tall
  long round flat wide thin thick soft hard warm cold cool wet dry damp icy hot clean dirty dusty muddy rusty shiny
  dull bright dark pale plain fancy pretty ugly lovely fine huge heavy empty full broken cracked bent crooked curly
  fuzzy furry silky smooth rough spiky striped spotted dotted painted carved wooden woolly stony sandy mossy leafy
  sticky secret magic famous royal lucky strange funny humble elegant square

words temper
  kind shy sleepy merry proud gentle clever brave grumpy polite quiet hungry lonely noisy patient curious wise busy
  lazy cheerful eager jolly calm bold timid lively honest tidy messy chatty dreamy humble stubborn young old plump

words feeling
  happy tired sad calm glad hopeful worried puzzled pleased nervous cosy excited lucky brave bold proud sleepy
  hungry cheerful lonely merry shy grand dizzy

words sky
  sunny misty windy rainy snowy frosty cloudy bright golden still grey chilly mild stormy fresh dark hazy warm cold
  clear quiet lovely wild icy

words daytime
  morning evening afternoon night day dawn

words place
  mill pond barn bridge forest garden river hill tower market meadow well orchard cave harbour church bakery field
  stable castle lighthouse swamp village waterfall quarry valley beach shed fountain inn moor lake farm island
  school museum palace station temple vineyard

words spot
  log bush stone gate tree cart bench barrel haystack wall nest ladder puddle leaf rug door oak ivy fern stump hedge
  fence rock chair table bed box chest tub sack raft pump post sign arch stair hut tent crate bucket pillow trunk
  wagon kettle broom

words fruit
  apples pears plums nuts cherries berries figs grapes lemons beans peas leeks herbs onions turnips carrots
  mushrooms melons dates olives limes pumpkins

words wares
  eggs candles roses feathers buttons buns tulips stamps bottles socks bells cups pots pans forks drums kites hats
  boots coins rings beads ribbons ropes jars jugs books lamps

words finds
  acorns shells pebbles marbles snails keys maps nets pins nails bricks twigs seeds bulbs tarts pies cakes bowls
  plates bags cushions clocks dolls wheels brushes combs gloves worms

rule goods
  <fruit>
  <wares>
  <finds>

words food
  pie soup cake tea bread jam porridge stew honey cheese pudding toast salad jelly pancakes dumplings

words flavour
  apple plum nut carrot cherry turnip onion berry mint pumpkin lemon ginger pear bean rose oat

words number
  two three four five six seven eight nine ten twelve twenty many

words birds
  geese larks gulls robins swallows moths bees bats finches wrens rooks doves ants mice beetles fireflies

words loudly
  softly loudly slowly gently quickly bravely sadly gladly kindly calmly proudly sleepily shyly warmly boldly
  merrily happily politely quietly wisely

words walked
  walked ran hopped crept hurried skipped wandered marched raced tiptoed rode strolled trotted danced climbed
  crawled

words under
  under behind near inside beside beyond below above

words garment
  coat cloak shawl jacket apron waistcoat gown sweater cap vest tie belt

words sang
  sang hummed laughed danced whistled dozed smiled yawned nodded giggled waved clapped bowed sighed
)grammar";

}  // namespace cladtorch::data
