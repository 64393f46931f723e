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
  swan
  deer
  newt
  rabbit
  pony
  lamb
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
  red blue green pink grey black white brown gold old new odd big tiny tall long round flat wide thin soft hard
  warm cold wet dry icy hot clean dusty shiny dark pale ugly fine huge empty bent silky lovely

words temper
  kind shy sleepy merry proud gentle brave grumpy polite quiet hungry noisy wise busy lazy jolly calm bold tidy
  young

words feeling
  happy tired sad calm glad worried pleased cosy lucky brave proud sleepy

words sky
  sunny misty windy rainy snowy frosty cloudy still grey mild stormy dark warm cold clear icy

words daytime
  morning evening day night

words place
  mill pond barn bridge forest garden river hill tower market meadow well cave harbour church field castle
  swamp village valley beach inn lake farm school palace

words spot
  log bush stone gate tree cart bench barrel wall nest ladder leaf rug door oak fence rock chair table bed box
  sack post hut tent

words fruit
  apples pears plums nuts cherries figs grapes beans peas onions carrots lemons

words wares
  eggs candles roses feathers buns socks bells cups pots forks drums kites hats boots coins rings

words finds
  acorns shells marbles snails keys maps nets nails twigs seeds pies cakes plates bags dolls gloves

rule goods
  <fruit>
  <wares>
  <finds>

words food
  pie soup cake tea bread jam stew honey cheese toast

words flavour
  apple plum nut carrot cherry onion mint lemon rose oat

words number
  two three four five six seven eight nine ten

words birds
  geese gulls robins moths bees bats finches wrens doves ants

words loudly
  softly loudly slowly gently bravely sadly gladly kindly proudly warmly

words walked
  walked ran hopped crept hurried skipped marched rode climbed

words under
  under behind near inside beside beyond

words garment
  coat cloak shawl jacket apron gown scarf vest

words sang
  sang hummed laughed danced dozed smiled yawned nodded waved bowed
)grammar";

}  // namespace cladtorch::data
