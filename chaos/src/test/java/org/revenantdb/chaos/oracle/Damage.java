package org.revenantdb.chaos.oracle;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.oracle.Finding.Kind;
import org.revenantdb.chaos.oracle.PromisedStore.Tx;

/**
 * One change that makes a legal content illegal, for one client whose transactions were all
 * answered.
 */
final class Damage {

  private final PromisedStore store;
  private final List<Tx> survivors;
  private final Map<Bytes, Bytes> content;
  private final RandomGenerator random;

  Damage(
      PromisedStore store, List<Tx> survivors, Map<Bytes, Bytes> content, RandomGenerator random) {
    this.store = store;
    this.survivors = survivors;
    this.content = content;
    this.random = random;
  }

  /** Changes the content and returns the finding to expect; null if there was nothing to change. */
  @Nullable Kind make() {
    return switch (random.nextInt(5)) {
      case 0 -> phantom();
      case 1 -> uncommitted();
      case 2 -> lost();
      case 3 -> torn();
      default -> gap();
    };
  }

  private Kind phantom() {
    content.put(Bytes.of("k0"), Bytes.of("made up"));
    return Kind.PHANTOM;
  }

  private @Nullable Kind uncommitted() {
    for (Tx tx : store.rolledBack) {
      for (Map.Entry<Bytes, @Nullable Bytes> write : tx.writes.entrySet()) {
        Bytes value = write.getValue();
        if (value != null) {
          content.put(write.getKey(), value);
          return Kind.UNCOMMITTED;
        }
      }
    }
    return null;
  }

  /** Removes a promised write from a key whose last write it was. */
  private @Nullable Kind lost() {
    for (Tx tx : shuffled(survivors)) {
      for (Bytes key : lastWritten(tx)) {
        if (tx.bound && undo(tx, key)) {
          return tx.writes.get(key) == null ? Kind.RESURRECTED : Kind.LOST;
        }
      }
    }
    return null;
  }

  /** Removes one key of a transaction that is still visible by another key. */
  private @Nullable Kind torn() {
    for (Tx tx : shuffled(survivors)) {
      List<Bytes> shown = lastWritten(tx);
      for (Bytes key : shown) {
        boolean seen = shown.stream().anyMatch(k -> !k.equals(key) && tx.writes.get(k) != null);
        if (seen && undo(tx, key)) {
          return Kind.TORN;
        }
      }
    }
    return null;
  }

  /** Removes a lazy write of one key, where a later one is visible by another key. */
  private @Nullable Kind gap() {
    for (Tx tx : shuffled(survivors)) {
      if (!tx.lazy || tx.promised != Long.MAX_VALUE || tx.writes.size() > 1) {
        continue;
      }
      boolean later =
          survivors.subList(survivors.indexOf(tx) + 1, survivors.size()).stream()
              .anyMatch(u ->
                  u.announced && lastWritten(u).stream().anyMatch(k -> u.writes.get(k) != null));
      for (Bytes key : lastWritten(tx)) {
        if (later && undo(tx, key)) {
          return Kind.NOT_A_PREFIX;
        }
      }
    }
    return null;
  }

  private List<Tx> shuffled(List<Tx> transactions) {
    List<Tx> shuffled = new ArrayList<>(transactions);
    for (int i = shuffled.size() - 1; i > 0; i--) {
      shuffled.set(i, shuffled.set(random.nextInt(i + 1), shuffled.get(i)));
    }
    return shuffled;
  }

  /** The keys that were not written after a transaction. */
  private List<Bytes> lastWritten(Tx tx) {
    List<Tx> after = survivors.subList(survivors.indexOf(tx) + 1, survivors.size());
    return tx.writes.keySet().stream()
        .filter(key -> after.stream().noneMatch(later -> later.writes.containsKey(key)))
        .toList();
  }

  /**
   * Whether a key was removed later: that transaction may be there instead and explains the missing
   * key.
   */
  private boolean isRemovedAfter(Tx tx, Bytes key) {
    return store.committed.stream()
        .skip(store.committed.indexOf(tx) + 1L)
        .anyMatch(later -> later.writes.containsKey(key) && later.writes.get(key) == null);
  }

  /** Gives a key its value before a transaction; false if that would be legal. */
  private boolean undo(Tx tx, Bytes key) {
    Bytes before = store.apply(survivors.subList(0, survivors.indexOf(tx))).get(key);
    if (Objects.equals(before, content.get(key)) || (before == null && isRemovedAfter(tx, key))) {
      return false;
    }
    if (before == null) {
      content.remove(key);
    } else {
      content.put(key, before);
    }
    return true;
  }
}
