package org.revenantdb.engine.catalog;

import java.util.Comparator;
import java.util.List;

/**
 * What the message about a name that does not exist says of the names that do: all of them if they
 * are few, else the ones that are most similar.
 *
 * <p>Threads: stateless.
 */
public final class NameHint {
  /** More names than this would hide the rest of the message. */
  private static final int MOST_NAMES = 8;

  private static final int SIMILAR_NAMES = 3;

  /** Characters of a name that are shown and compared: a name may have a thousand. */
  private static final int LONGEST = 40;

  private NameHint() {}

  /**
   * A part of a sentence, as in {@code it has customers, orders}.
   *
   * @param kind of what has these names, as in {@code table}
   * @param wanted the name that does not exist
   * @param names those that exist
   */
  public static String of(String kind, String wanted, List<String> names) {
    if (names.isEmpty()) {
      return "it has no " + kind;
    }
    List<String> shown = names.stream().map(NameHint::shown).toList();
    if (names.size() <= MOST_NAMES) {
      return "it has " + String.join(", ", shown);
    }
    String compared = shown(wanted);
    List<String> similar =
        shown.stream()
            .sorted(Comparator.comparingInt(name -> distance(compared, name)))
            .limit(SIMILAR_NAMES)
            .toList();
    return "of its " + names.size() + " these are the closest: " + String.join(", ", similar);
  }

  private static String shown(String name) {
    return name.length() <= LONGEST ? name : name.substring(0, LONGEST) + "...";
  }

  /** Insertions, deletions and replacements of characters that make one text the other. */
  private static int distance(String from, String to) {
    int[] row = new int[to.length() + 1];
    for (int j = 0; j <= to.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= from.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= to.length(); j++) {
        int replaced = diagonal + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(replaced, Math.min(row[j], row[j - 1]) + 1);
      }
    }
    return row[to.length()];
  }
}
