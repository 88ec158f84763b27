package org.revenantdb.engine.txn;

import java.util.Arrays;
import java.util.function.IntPredicate;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The words of prepared transactions, separate from those of all others: a transaction that stays
 * prepared for weeks does not keep a chunk of ids from being forgotten.
 *
 * <p>Immutable, except for the words.
 */
final class PreparedWords {
  static final PreparedWords NONE = new PreparedWords(new long[0], new OutcomeWords[0]);

  /** In ascending order. */
  private final long[] ids;

  /** Each of one transaction. */
  private final OutcomeWords[] words;

  private PreparedWords(long[] ids, OutcomeWords[] words) {
    this.ids = ids;
    this.words = words;
  }

  boolean isEmpty() {
    return ids.length == 0;
  }

  int size() {
    return ids.length;
  }

  long id(int index) {
    return ids[index];
  }

  /** The outcome of one. */
  long get(int index) {
    return words[index].get(0);
  }

  /** The word of an id, null if there is none. */
  @Nullable OutcomeWords of(long id) {
    int index = Arrays.binarySearch(ids, id);
    return index < 0 ? null : words[index];
  }

  /** These words and another one, which is UNKNOWN. */
  PreparedWords with(long id) {
    int index = Arrays.binarySearch(ids, id);
    if (index >= 0) {
      return this;
    }
    int at = -index - 1;
    long[] moreIds = Arrays.copyOf(ids, ids.length + 1);
    OutcomeWords[] moreWords = Arrays.copyOf(words, words.length + 1);
    System.arraycopy(ids, at, moreIds, at + 1, ids.length - at);
    System.arraycopy(words, at, moreWords, at + 1, words.length - at);
    moreIds[at] = id;
    moreWords[at] = new OutcomeWords(1);
    return new PreparedWords(moreIds, moreWords);
  }

  /** All words except one. */
  PreparedWords without(long id) {
    return select(index -> ids[index] != id);
  }

  /** The words of ids for which a predicate is false. */
  PreparedWords without(LongPredicate forgettable) {
    return select(index -> !forgettable.test(get(index)));
  }

  private PreparedWords select(IntPredicate selected) {
    long[] lessIds = new long[ids.length];
    OutcomeWords[] lessWords = new OutcomeWords[ids.length];
    int kept = 0;
    for (int i = 0; i < ids.length; i++) {
      if (selected.test(i)) {
        lessIds[kept] = ids[i];
        lessWords[kept++] = words[i];
      }
    }
    return kept == ids.length
        ? this
        : new PreparedWords(Arrays.copyOf(lessIds, kept), Arrays.copyOf(lessWords, kept));
  }
}
