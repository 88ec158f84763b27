package org.revenantdb.jmh.tpcc;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.jmh.fork.Sessions;

/**
 * A session: one transaction of the mix after the other, without a pause, each repeated until it
 * has no conflict. One thread; any thread may read its counts.
 */
final class TpccSession implements Sessions.Session {
  /*
   * Only the session's thread writes its counts, so an opaque store is enough; a reader may miss the last ones.
   */
  private final Database database;
  private final TransactionOptions options;
  private final TpccMix mix;
  private final Map<TpccType, AtomicLong> committed = new EnumMap<>(TpccType.class);
  private final AtomicLong rolledBack = new AtomicLong();
  private final AtomicLong conflicts = new AtomicLong();

  TpccSession(Database database, TransactionOptions options, TpccMix mix) {
    this.database = database;
    this.options = options;
    this.mix = mix;
    for (TpccType type : TpccType.values()) {
      committed.put(type, new AtomicLong());
    }
  }

  @Override
  public void step() {
    TpccTransaction transaction = mix.next();
    boolean[] again = {false};
    try {
      database.run(
          options,
          tx -> {
            if (again[0]) {
              addOne(conflicts);
            }
            again[0] = true;
            transaction.run(tx);
          });
      addOne(Objects.requireNonNull(committed.get(transaction.type())));
    } catch (UnusedItemException _) {
      addOne(rolledBack);
    }
  }

  private static void addOne(AtomicLong count) {
    count.setOpaque(count.getPlain() + 1);
  }

  TpccCounts counts() {
    Map<TpccType, Long> now = new EnumMap<>(TpccType.class);
    committed.forEach((type, count) -> now.put(type, count.getOpaque()));
    return new TpccCounts(now, rolledBack.getOpaque(), conflicts.getOpaque());
  }
}
