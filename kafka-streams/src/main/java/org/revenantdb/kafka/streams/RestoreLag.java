package org.revenantdb.kafka.streams;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.OptionalLong;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.TopicPartition;

/**
 * How far the stores that a thread restores are behind their changelogs. The thread's restore
 * consumer knows it, and is found as the one that the thread was the last to poll.
 *
 * <p>Threads: any; a consumer belongs to the thread that polls it.
 */
final class RestoreLag {
  private static final String POLL = "poll";

  private static final ThreadLocal<Consumer<?, ?>> POLLED = new ThreadLocal<>();

  private RestoreLag() {}

  /** The same consumer, which is found in the threads that poll it. */
  @SuppressWarnings("unchecked") // the only interface of the proxy
  static Consumer<byte[], byte[]> observed(Consumer<byte[], byte[]> consumer) {
    return (Consumer<byte[], byte[]>)
        Proxy.newProxyInstance(
            RestoreLag.class.getClassLoader(),
            new Class<?>[] {Consumer.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals(POLL)) {
                POLLED.set(consumer);
              }
              try {
                return method.invoke(consumer, arguments);
              } catch (InvocationTargetException failure) {
                throw failure.getTargetException();
              }
            });
  }

  /** Records of a changelog that the current thread has not read yet; empty if not known. */
  static OptionalLong of(TopicPartition changelog) {
    Consumer<?, ?> consumer = POLLED.get();
    if (consumer == null) {
      return OptionalLong.empty();
    }
    try {
      return consumer.currentLag(changelog);
    } catch (IllegalStateException notOfThisConsumer) { // or it is closed
      return OptionalLong.empty();
    }
  }

  /** Whether the current thread does not read this changelog for a time. */
  static boolean isPaused(TopicPartition changelog) {
    Consumer<?, ?> consumer = POLLED.get();
    try {
      return consumer != null && consumer.paused().contains(changelog);
    } catch (IllegalStateException closed) {
      return false;
    }
  }
}
