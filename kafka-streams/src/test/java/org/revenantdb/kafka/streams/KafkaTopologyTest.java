package org.revenantdb.kafka.streams;

import java.util.concurrent.TimeUnit;
import org.apache.kafka.streams.StreamsBuilderTest;
import org.apache.kafka.streams.TopologyTest;
import org.apache.kafka.streams.kstream.internals.CogroupedKStreamImplTest;
import org.apache.kafka.streams.kstream.internals.GlobalKTableJoinsTest;
import org.apache.kafka.streams.kstream.internals.KGroupedStreamImplTest;
import org.apache.kafka.streams.kstream.internals.KGroupedTableImplTest;
import org.apache.kafka.streams.kstream.internals.KStreamGlobalKTableJoinTest;
import org.apache.kafka.streams.kstream.internals.KStreamImplTest;
import org.apache.kafka.streams.kstream.internals.KStreamKStreamJoinTest;
import org.apache.kafka.streams.kstream.internals.KStreamKStreamLeftJoinTest;
import org.apache.kafka.streams.kstream.internals.KStreamKStreamOuterJoinTest;
import org.apache.kafka.streams.kstream.internals.KStreamKStreamSelfJoinTest;
import org.apache.kafka.streams.kstream.internals.KStreamKTableJoinTest;
import org.apache.kafka.streams.kstream.internals.KStreamKTableLeftJoinTest;
import org.apache.kafka.streams.kstream.internals.KStreamSessionWindowAggregateProcessorTest;
import org.apache.kafka.streams.kstream.internals.KStreamSlidingWindowAggregateTest;
import org.apache.kafka.streams.kstream.internals.KStreamWindowAggregateTest;
import org.apache.kafka.streams.kstream.internals.KTableAggregateTest;
import org.apache.kafka.streams.kstream.internals.KTableFilterTest;
import org.apache.kafka.streams.kstream.internals.KTableImplTest;
import org.apache.kafka.streams.kstream.internals.KTableKTableForeignKeyJoinScenarioTest;
import org.apache.kafka.streams.kstream.internals.KTableKTableInnerJoinTest;
import org.apache.kafka.streams.kstream.internals.KTableKTableOuterJoinTest;
import org.apache.kafka.streams.kstream.internals.KTableMapValuesTest;
import org.apache.kafka.streams.kstream.internals.KTableSourceTest;
import org.apache.kafka.streams.kstream.internals.KTableTransformValuesTest;
import org.apache.kafka.streams.kstream.internals.SessionWindowedCogroupedKStreamImplTest;
import org.apache.kafka.streams.kstream.internals.SessionWindowedKStreamImplTest;
import org.apache.kafka.streams.kstream.internals.SlidingWindowedCogroupedKStreamImplTest;
import org.apache.kafka.streams.kstream.internals.SlidingWindowedKStreamImplTest;
import org.apache.kafka.streams.kstream.internals.SuppressScenarioTest;
import org.apache.kafka.streams.kstream.internals.SuppressTopologyTest;
import org.apache.kafka.streams.kstream.internals.TimeWindowedCogroupedKStreamImplTest;
import org.apache.kafka.streams.kstream.internals.TimeWindowedKStreamImplTest;
import org.apache.kafka.streams.state.internals.ListValueStoreTest;
import org.apache.kafka.streams.state.internals.SessionStoreFetchTest;
import org.apache.kafka.streams.state.internals.WindowStoreFetchTest;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Kafka's own tests of the DSL and of the layers above the stores, with our stores where they have
 * persistent ones. README.md has the list of those that run and of those that do not.
 */
@Tag("slow")
@ExtendWith(WithoutKafkasLog.class)
@Timeout(value = 40, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SAME_THREAD)
class KafkaTopologyTest {
  @Nested
  @ExtendWith(OurStores.class)
  class OurCogroupedKStreamImplTest extends CogroupedKStreamImplTest {}

  @Nested
  @ExtendWith(OurStores.class)
  class OurGlobalKTableJoinsTest extends GlobalKTableJoinsTest {}

  @Nested
  @ExtendWith(OurStores.class)
  class OurKGroupedStreamImplTest extends KGroupedStreamImplTest {}

  @Nested
  @ExtendWith(OurStores.class)
  class OurKGroupedTableImplTest extends KGroupedTableImplTest {}

  @Nested
  @ExtendWith(OurStores.class)
  class OurKStreamGlobalKTableJoinTest extends KStreamGlobalKTableJoinTest {}

  @Nested
  @ExtendWith(OurStores.class)
  class OurKStreamImplTest extends KStreamImplTest {}

  @Nested
  @ExtendWith(OurStores.class)
  class OurKStreamKStreamJoinTest extends KStreamKStreamJoinTest {}

  @Nested
  @ExtendWith(OurStores.class)
  class OurKStreamKStreamLeftJoinTest extends KStreamKStreamLeftJoinTest {}

  @Nested
  @ExtendWith(OurStores.class)
  class OurKStreamKStreamOuterJoinTest extends KStreamKStreamOuterJoinTest {}

  @Nested
  @ExtendWith(OurStores.class)
  class OurKStreamKStreamSelfJoinTest extends KStreamKStreamSelfJoinTest {}

  @Nested
  @ExtendWith(OurStores.class)
  class OurKStreamKTableJoinTest extends KStreamKTableJoinTest {}

  @Nested
  @ExtendWith(OurStores.class)
  class OurKStreamKTableLeftJoinTest extends KStreamKTableLeftJoinTest {}

  @Nested
  @ExtendWith(OurStores.class)
  class OurKStreamSessionWindowAggregateProcessorTest
      extends KStreamSessionWindowAggregateProcessorTest {}

  @Nested
  @ExtendWith(OurStores.class)
  class OurKStreamSlidingWindowAggregateTest extends KStreamSlidingWindowAggregateTest {}

  @Nested
  @ExtendWith(OurStores.class)
  class OurKStreamWindowAggregateTest extends KStreamWindowAggregateTest {}

  @Nested
  @ExtendWith(OurStores.class)
  class OurKTableAggregateTest extends KTableAggregateTest {}

  @Nested
  @ExtendWith(OurStores.class)
  class OurKTableFilterTest extends KTableFilterTest {}

  @Nested
  @ExtendWith(OurStores.class)
  class OurKTableKTableForeignKeyJoinScenarioTest extends KTableKTableForeignKeyJoinScenarioTest {}

  @Nested
  @ExtendWith(OurStores.class)
  class OurKTableKTableInnerJoinTest extends KTableKTableInnerJoinTest {}

  @Nested
  @ExtendWith(OurStores.class)
  class OurKTableKTableOuterJoinTest extends KTableKTableOuterJoinTest {}

  @Nested
  @ExtendWith(OurStores.class)
  class OurKTableMapValuesTest extends KTableMapValuesTest {}

  @Nested
  @ExtendWith(OurStores.class)
  class OurKTableSourceTest extends KTableSourceTest {}

  @Nested
  @ExtendWith(OurStores.class)
  class OurListValueStoreTest extends ListValueStoreTest {}

  @Nested
  @ExtendWith(OurStores.class)
  class OurSessionStoreFetchTest extends SessionStoreFetchTest {}

  @Nested
  @ExtendWith(OurStores.class)
  class OurSessionWindowedCogroupedKStreamImplTest
      extends SessionWindowedCogroupedKStreamImplTest {}

  @Nested
  @ExtendWith(OurStores.class)
  class OurSessionWindowedKStreamImplTest extends SessionWindowedKStreamImplTest {}

  @Nested
  @ExtendWith(OurStores.class)
  class OurSlidingWindowedCogroupedKStreamImplTest
      extends SlidingWindowedCogroupedKStreamImplTest {}

  @Nested
  @ExtendWith(OurStores.class)
  class OurSlidingWindowedKStreamImplTest extends SlidingWindowedKStreamImplTest {}

  @Nested
  @ExtendWith(OurStores.class)
  class OurSuppressScenarioTest extends SuppressScenarioTest {}

  @Nested
  @ExtendWith(OurStores.class)
  class OurSuppressTopologyTest extends SuppressTopologyTest {}

  @Nested
  @ExtendWith(OurStores.class)
  class OurTimeWindowedCogroupedKStreamImplTest extends TimeWindowedCogroupedKStreamImplTest {}

  @Nested
  @ExtendWith(OurStores.class)
  class OurTimeWindowedKStreamImplTest extends TimeWindowedKStreamImplTest {}

  @Nested
  @ExtendWith(OurStores.class)
  class OurWindowStoreFetchTest extends WindowStoreFetchTest {}

  @Nested
  @ExtendWith(OurStores.class)
  class OurKTableImplTest extends KTableImplTest {}

  @Nested
  @ExtendWith(OurStores.class)
  class OurKTableTransformValuesTest extends KTableTransformValuesTest {}

  @Nested
  @ExtendWith(OurStores.class)
  class OurTopologyTest extends TopologyTest {}

  @Nested
  @ExtendWith(OurStores.class)
  class OurStreamsBuilderTest extends StreamsBuilderTest {
    /** It looks for the class of the store; without the annotation it is not run. */
    @Override
    public void shouldUseSpecifiedStoreSuppliersOuterJoinStoreEvenIfThisSupplierIsSupplied() {}
  }
}
