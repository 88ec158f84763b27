package org.revenantdb.kafka.streams;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * For a class of Kafka's own tests that gets {@link OurStores}. The replaced methods are those of
 * one thread, and some of Kafka's classes have a time limit that gives each test a thread of its
 * own. So each class needs the limit here.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(OurStores.class)
@Timeout(value = 40, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SAME_THREAD)
public @interface OverOurStores {}
