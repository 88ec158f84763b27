package org.revenantdb.chaos.oracle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.revenantdb.chaos.oracle.PromiseEvent.By;
import org.revenantdb.chaos.oracle.PromiseEvent.Crash;
import org.revenantdb.chaos.oracle.PromiseEvent.OfGroup;
import org.revenantdb.chaos.oracle.PromiseEvent.Put;
import org.revenantdb.chaos.oracle.PromiseEvent.Step;

/**
 * The oracle against all possibilities: two keys, three announced transactions in at most two
 * lives, and every content of the two keys. A content that some order of some transactions explains
 * is never reported. Without removals, everything else is reported. (Two removals look the same, so
 * with them a few are missed.) The seed is printed; {@code -Drevenant.promises.seed} sets it.
 */
class PromiseBruteForceTest {

  private static final int HISTORIES = 3_000;
  private static final int TRANSACTIONS = 3;
  private static final List<String> KEYS = List.of("a", "b");
  private static final long NEVER = Long.MAX_VALUE;

  /** One transaction; `answered` is NEVER if it got no answer. */
  private record Story(
      int number,
      int life,
      Map<String, @Nullable String> writes,
      long asked,
      long answered,
      Step answer) {

    boolean answeredBefore(long crash) {
      return life == 0 ? answered != NEVER : answered < crash;
    }

    boolean isBefore(Story later, long crash) {
      return life < later.life
          || (life == later.life && answeredBefore(crash) && answered < later.asked);
    }

    boolean mayBeThere(long crash) {
      return (life == 0 || asked < crash) && !(answer == Step.ROLLED_BACK && answeredBefore(crash));
    }

    boolean is(Step step, long crash) {
      return answer == step && answeredBefore(crash);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void content_isReportedExactlyIfNoOrderExplainsIt(boolean removals) {
    long seed = Long.getLong("revenant.promises.seed", System.nanoTime());
    System.out.println("promises: seed " + seed);
    int illegal = 0;
    int missed = 0;
    for (int run = 0; run < HISTORIES; run++) {
      RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed + run);
      List<Story> stories = stories(random, removals);
      long crash = random.nextInt(3) == 0 ? random.nextLong(1, 12) : NEVER;
      PromiseLog log = PromiseLog.of(events(stories));
      Set<Map<String, String>> legal = legal(stories, crash);
      for (Map<String, String> content : contents(stories)) {
        RecoveredState state = log.at(crash);
        state.verifyAll(content);
        boolean reported = !state.findings().isEmpty();
        boolean explained = legal.contains(content);
        if (reported == explained) {
          String story =
              "seed %d: %s at %d of %s: %s"
                  .formatted(seed + run, content, crash, stories, state.findings());
          assertTrue(explained ? !reported : removals, story);
        }
        illegal += explained ? 0 : 1;
        missed += explained || reported ? 0 : 1;
      }
    }
    int misses = missed;
    int all = illegal;
    System.out.println("promises: " + misses + " of " + all + " illegal contents were missed");
    assertTrue(all > HISTORIES, "too few illegal contents");
    assertTrue(misses * 100 < all, () -> misses + " of " + all + " were missed");
    assertEquals(0, removals ? 0 : misses);
  }

  private static List<Story> stories(RandomGenerator random, boolean removals) {
    List<Story> stories = new ArrayList<>();
    List<Long> places = new ArrayList<>();
    for (long place = 1; place <= 10; place++) {
      places.add(place);
    }
    for (int i = 0; i < TRANSACTIONS; i++) {
      Map<String, @Nullable String> writes = new HashMap<>();
      for (String key : KEYS) {
        if (random.nextInt(4) > 0 || (writes.isEmpty() && key.equals("b"))) {
          writes.put(key, removals && random.nextInt(3) == 0 ? null : "v" + i);
        }
      }
      long one = places.remove(random.nextInt(places.size()));
      long other = places.remove(random.nextInt(places.size()));
      Step answer =
          switch (random.nextInt(8)) {
            case 0, 1, 2 -> Step.DURABLE;
            case 3, 4 -> Step.LAZY;
            case 5 -> Step.ROLLED_BACK;
            default -> Step.COMMITTING;
          };
      long answered = answer == Step.COMMITTING ? NEVER : Math.max(one, other);
      int life = random.nextInt(3) == 0 ? 0 : 1;
      stories.add(new Story(i + 1, life, writes, Math.min(one, other), answered, answer));
    }
    return stories;
  }

  private static List<PromiseEvent> events(List<Story> stories) {
    List<PromiseEvent> events = new ArrayList<>();
    for (int life = 0; life < 2; life++) {
      if (life == 1) {
        events.add(new Crash(/* death= */ false));
      }
      for (Story story : stories) {
        if (story.life == life) {
          By by = new By(story.asked, story.number, "client " + story.number);
          events.add(new OfGroup(by, story.number, Step.BEGIN));
          story.writes.forEach((key, value) ->
              events.add(new Put(by, story.number, Bytes.of(key), Bytes.ofNullable(value))));
          events.add(new OfGroup(by, story.number, Step.COMMITTING));
          if (story.answered != NEVER) {
            By then = new By(story.answered, story.number, "client " + story.number);
            events.add(new OfGroup(then, story.number, story.answer));
          }
        }
      }
    }
    return events;
  }

  private static List<Map<String, String>> contents(List<Story> stories) {
    List<Map<String, String>> contents = new ArrayList<>();
    for (String a : values(stories, "a")) {
      for (String b : values(stories, "b")) {
        Map<String, String> content = new HashMap<>();
        if (!a.isEmpty()) {
          content.put("a", a);
        }
        if (!b.isEmpty()) {
          content.put("b", b);
        }
        contents.add(content);
      }
    }
    return contents;
  }

  private static List<String> values(List<Story> stories, String key) {
    List<String> values = new ArrayList<>();
    values.add("");
    for (Story story : stories) {
      String value = story.writes.get(key);
      if (value != null) {
        values.add(value);
      }
    }
    return values;
  }

  /** The results of each allowed set of transactions in each possible order. */
  private static Set<Map<String, String>> legal(List<Story> stories, long crash) {
    Set<Map<String, String>> legal = new HashSet<>();
    for (int set = 0; set < 1 << stories.size(); set++) {
      List<Story> chosen = new ArrayList<>();
      List<Story> others = new ArrayList<>();
      for (int i = 0; i < stories.size(); i++) {
        ((set & (1 << i)) != 0 ? chosen : others).add(stories.get(i));
      }
      boolean allowed =
          chosen.stream().allMatch(story -> story.mayBeThere(crash))
              && others.stream().noneMatch(story -> story.is(Step.DURABLE, crash))
              && others.stream()
                  .filter(story -> story.is(Step.LAZY, crash))
                  .noneMatch(lazy ->
                      chosen.stream()
                          .anyMatch(
                              later -> lazy.life == later.life && lazy.isBefore(later, crash)));
      if (allowed) {
        apply(new HashMap<>(), chosen, crash, legal);
      }
    }
    return legal;
  }

  private static void apply(
      Map<String, String> content, List<Story> left, long crash, Set<Map<String, String>> legal) {
    if (left.isEmpty()) {
      legal.add(content);
      return;
    }
    for (Story next : left) {
      if (left.stream().noneMatch(other -> other.isBefore(next, crash))) {
        Map<String, String> then = new HashMap<>(content);
        next.writes.forEach((key, value) -> {
          if (value == null) {
            then.remove(key);
          } else {
            then.put(key, value);
          }
        });
        List<Story> rest = new ArrayList<>(left);
        rest.remove(next);
        apply(then, rest, crash, legal);
      }
    }
  }
}
