// The words of the built-in stories. The notation is in docs/data.md.
//
// No word of a list begins another word of the same list: that is what keeps the grammar unambiguous. Words
// are short, so that much of the text is a choice and little of it the spelling of what has been chosen.
#include "data/stories/stories_source.h"

namespace cladtorch::data {

const char* const story_words = R"grammar(
table hero name kind He he his
  Pip  | mouse | He  | he  | his
  Nell | hen   | She | she | her
  Otto | bear  | He  | he  | his
  Fern | fox   | She | she | her
  Hugo | frog  | He  | he  | his
  Dot  | duck  | She | she | her
  Jack | crow  | He  | he  | his
  Tess | mole  | She | she | her

# Whom the hero meets; none is of a hero's kind.
table friend kind
  toad
  goose
  badger
  newt
  rabbit
  pony
  pig
  cat

# What is lost and found.
table thing name
  kite
  bell
  lamp
  drum
  hat
  key
  map
  spoon
  ring
  umbrella

words look
  red blue green pink grey black white brown gold old new odd big tiny tall long round flat wide soft hard warm
  wet dry hot clean dusty shiny pale ugly fine huge empty silky lovely

words temper
  kind shy sleepy merry proud gentle brave grumpy polite quiet hungry noisy wise busy lazy jolly calm bold tidy
  young

words feeling
  happy tired sad glad worried pleased cosy lucky excited nervous

words sky
  sunny misty windy rainy snowy frosty cloudy still mild stormy dark cold clear

words month
  January February March April May June July August September October November December

rule date
  9: <digit> <month>
  20: (1/2)<figure> <month>

words digit
  1 2 3 4 5 6 7 8 9

words figure
  0 1 2 3 4 5 6 7 8 9

rule number
  <digit><figure>

rule time
  <digit>:(0/1/2/3/4/5)<figure>

words daytime
  morning evening afternoon night

words place
  mill pond barn bridge forest garden river hill tower market well cave harbour field castle village beach inn
  lake school palace

words spot
  log bush stone gate tree cart bench nest ladder rug door oak fence rock chair table bed hut wall

words fruit
  apples pears plums nuts cherries figs grapes beans onions lemons

words wares
  eggs candles roses buns socks bells cups pots forks drums kites hats boots rings

words finds
  acorns shells marbles snails keys maps nets twigs seeds pies dolls gloves

rule goods
  <fruit>
  <wares>
  <finds>

words food
  pie soup cake tea bread jam stew honey cheese toast

words flavour
  apple plum nut carrot cherry onion mint lemon rose oat

words birds
  larks gulls robins moths bees bats finches wrens doves ants

words loudly
  softly loudly slowly gently bravely sadly gladly kindly proudly warmly

words walked
  walked ran hopped crept hurried skipped marched rode climbed

words under
  under behind near inside beside

words garment
  coat cloak shawl jacket apron gown scarf vest

words sang
  sang hummed laughed danced smiled yawned nodded waved bowed
)grammar";

}  // namespace cladtorch::data
