package org.revenantdb.kafka.streams;

import java.time.Duration;
import org.apache.kafka.streams.state.Stores;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.mockito.MockedStatic;
import org.mockito.Mockito;
import org.mockito.invocation.InvocationOnMock;

/**
 * Gives our stores to Kafka's own tests that ask {@link Stores} for persistent ones, as the DSL
 * does by default. A test class that has none of them is a mistake.
 *
 * <p>Mockito replaces the methods for one thread, so a test must run on the thread of its class.
 */
public final class OurStores implements BeforeAllCallback, AfterAllCallback {
  private MockedStatic<Stores> stores;
  private int made;

  @Override
  public void beforeAll(ExtensionContext context) {
    if (stores == null) {
      stores = Mockito.mockStatic(Stores.class, this::call);
    }
  }

  @Override
  public void afterAll(ExtensionContext context) {
    if (stores != null) {
      stores.close();
      stores = null;
      if (made == 0) {
        throw new AssertionError(context.getDisplayName() + " had none of our stores");
      }
    }
  }

  private Object call(InvocationOnMock call) throws Throwable {
    Object[] arguments = call.getArguments();
    Object ours =
        switch (call.getMethod().getName()) {
          case "persistentKeyValueStore" -> // one test has blanks in the name
              RevenantStores.keyValueStore(((String) arguments[0]).replace(' ', '-'));
          case "persistentTimestampedKeyValueStore" ->
              RevenantStores.timestampedKeyValueStore((String) arguments[0]);
          case "persistentTimestampedKeyValueStoreWithHeaders" ->
              RevenantStores.timestampedKeyValueStoreWithHeaders((String) arguments[0]);
          case "persistentVersionedKeyValueStore" ->
              RevenantStores.versionedKeyValueStore((String) arguments[0], (Duration) arguments[1]);
          case "persistentWindowStore" ->
              RevenantStores.windowStore(
                  (String) arguments[0],
                  (Duration) arguments[1],
                  (Duration) arguments[2],
                  (Boolean) arguments[3]);
          case "persistentTimestampedWindowStore" ->
              RevenantStores.timestampedWindowStore(
                  (String) arguments[0],
                  (Duration) arguments[1],
                  (Duration) arguments[2],
                  (Boolean) arguments[3]);
          case "persistentTimestampedWindowStoreWithHeaders" ->
              RevenantStores.timestampedWindowStoreWithHeaders(
                  (String) arguments[0],
                  (Duration) arguments[1],
                  (Duration) arguments[2],
                  (Boolean) arguments[3]);
          case "persistentSessionStore" ->
              RevenantStores.sessionStore((String) arguments[0], (Duration) arguments[1]);
          case "persistentSessionStoreWithHeaders" ->
              RevenantStores.sessionStoreWithHeaders(
                  (String) arguments[0], (Duration) arguments[1]);
          default -> null;
        };
    if (ours == null) {
      return call.callRealMethod();
    }
    made++;
    return ours;
  }
}
