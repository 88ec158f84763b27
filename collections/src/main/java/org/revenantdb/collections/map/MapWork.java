package org.revenantdb.collections.map;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionCall;
import org.revenantdb.engine.TransactionOptions;

/** The transaction in which a call of a map runs. */
public interface MapWork {
  /** Runs what only reads. */
  <T extends @Nullable Object> T read(TransactionCall<T> call);

  /** Runs what may write. */
  <T extends @Nullable Object> T write(TransactionCall<T> call);

  /** Each call is a transaction. */
  static MapWork each(Database database, TransactionOptions options) {
    TransactionOptions reading = options.withReadOnly(true);
    Objects.requireNonNull(database, "database must not be null");
    return new MapWork() {
      @Override
      public <T extends @Nullable Object> T read(TransactionCall<T> call) {
        return database.call(reading, call);
      }

      @Override
      public <T extends @Nullable Object> T write(TransactionCall<T> call) {
        return database.call(options, call);
      }
    };
  }

  /** All calls are statements of one transaction. */
  static MapWork of(Transaction transaction) {
    Objects.requireNonNull(transaction, "transaction must not be null");
    return new MapWork() {
      @Override
      public <T extends @Nullable Object> T read(TransactionCall<T> call) {
        return call.call(transaction);
      }

      @Override
      public <T extends @Nullable Object> T write(TransactionCall<T> call) {
        return call.call(transaction);
      }
    };
  }
}
