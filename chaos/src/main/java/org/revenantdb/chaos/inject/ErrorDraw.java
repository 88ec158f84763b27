package org.revenantdb.chaos.inject;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import org.revenantdb.chaos.subject.FaultKind;

/** Draws where errors are thrown, from what a life without errors has reached. */
public final class ErrorDraw {

  private ErrorDraw() {}

  /**
   * Draws a target for each life. Every second one is any hit of a part of the life, so that what
   * runs often is struck often. The others are hits of one point each, each point before any point
   * again, so that what runs once is struck, too.
   *
   * @param kind the fault, one of those in code
   * @param counts the hits of each point
   * @param seed of the choice
   * @param lives how many
   * @return the targets; none if nothing was reached
   */
  public static List<Target> draw(
      FaultKind kind, Map<ErrorSite, Long> counts, long seed, int lives) {
    long total = counts.values().stream().mapToLong(Long::longValue).sum();
    if (total == 0) {
      return List.of();
    }
    SplittableRandom random = new SplittableRandom(seed ^ kind.name().hashCode());
    List<Map.Entry<ErrorSite, Long>> points = new ArrayList<>(counts.entrySet());
    // Points are numbered as threads load classes, which is another order each time.
    points.sort(
        Comparator.comparing(
            Map.Entry::getKey,
            Comparator.comparing(ErrorSite::place)
                .thenComparing(ErrorSite::kind)
                .thenComparing(ErrorSite::of)));
    Collections.shuffle(points, new Random(random.nextLong()));
    List<Target> drawn = new ArrayList<>();
    for (int i = 0; i < lives; i++) {
      Target any = kind == FaultKind.CALL_OVERFLOWS ? Target.call(1) : Target.allocation(1);
      Target target;
      if (i % 2 == 0) {
        long first = total * i / lives;
        long next = Math.max(first + 1, total * (i + 2) / lives);
        target = any.nth(1 + random.nextLong(first, Math.max(first + 1, Math.min(next, total))));
      } else {
        Map.Entry<ErrorSite, Long> point = points.get(i / 2 % points.size());
        ErrorSite site = point.getKey();
        target = any.in(site.place()).of(site.of()).nth(1 + random.nextLong(point.getValue()));
      }
      drawn.add(target.errors(errors(kind, random)));
    }
    return drawn;
  }

  private static int errors(FaultKind kind, SplittableRandom random) {
    int many = random.nextInt(2, Target.MOST_ERRORS + 1);
    return switch (kind) {
      case HEAP_FULL -> many;
      case CALL_OVERFLOWS -> random.nextBoolean() ? 1 : many;
      default -> 1;
    };
  }
}
