package org.revenantdb.kafka.streams;

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
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Kafka's own tests of the DSL and of the layers above the stores, with our stores where they have
 * persistent ones. README.md has the list of those that run and of those that do not.
 */
@Tag("slow")
@ExtendWith(WithoutKafkasLog.class)
class KafkaTopologyTest {
  @Nested
  @OverOurStores
  class OurCogroupedKStreamImplTest extends CogroupedKStreamImplTest {}

  @Nested
  @OverOurStores
  class OurGlobalKTableJoinsTest extends GlobalKTableJoinsTest {}

  @Nested
  @OverOurStores
  class OurKGroupedStreamImplTest extends KGroupedStreamImplTest {}

  @Nested
  @OverOurStores
  class OurKGroupedTableImplTest extends KGroupedTableImplTest {}

  @Nested
  @OverOurStores
  class OurKStreamGlobalKTableJoinTest extends KStreamGlobalKTableJoinTest {}

  @Nested
  @OverOurStores
  class OurKStreamImplTest extends KStreamImplTest {}

  @Nested
  @OverOurStores
  class OurKStreamKStreamJoinTest extends KStreamKStreamJoinTest {}

  @Nested
  @OverOurStores
  class OurKStreamKStreamLeftJoinTest extends KStreamKStreamLeftJoinTest {}

  @Nested
  @OverOurStores
  class OurKStreamKStreamOuterJoinTest extends KStreamKStreamOuterJoinTest {}

  @Nested
  @OverOurStores
  class OurKStreamKStreamSelfJoinTest extends KStreamKStreamSelfJoinTest {}

  @Nested
  @OverOurStores
  class OurKStreamKTableJoinTest extends KStreamKTableJoinTest {}

  @Nested
  @OverOurStores
  class OurKStreamKTableLeftJoinTest extends KStreamKTableLeftJoinTest {}

  @Nested
  @OverOurStores
  class OurKStreamSessionWindowAggregateProcessorTest
      extends KStreamSessionWindowAggregateProcessorTest {}

  @Nested
  @OverOurStores
  class OurKStreamSlidingWindowAggregateTest extends KStreamSlidingWindowAggregateTest {}

  @Nested
  @OverOurStores
  class OurKStreamWindowAggregateTest extends KStreamWindowAggregateTest {}

  @Nested
  @OverOurStores
  class OurKTableAggregateTest extends KTableAggregateTest {}

  @Nested
  @OverOurStores
  class OurKTableFilterTest extends KTableFilterTest {}

  @Nested
  @OverOurStores
  class OurKTableKTableForeignKeyJoinScenarioTest extends KTableKTableForeignKeyJoinScenarioTest {}

  @Nested
  @OverOurStores
  class OurKTableKTableInnerJoinTest extends KTableKTableInnerJoinTest {}

  @Nested
  @OverOurStores
  class OurKTableKTableOuterJoinTest extends KTableKTableOuterJoinTest {}

  @Nested
  @OverOurStores
  class OurKTableMapValuesTest extends KTableMapValuesTest {}

  @Nested
  @OverOurStores
  class OurKTableSourceTest extends KTableSourceTest {}

  @Nested
  @OverOurStores
  class OurListValueStoreTest extends ListValueStoreTest {}

  @Nested
  @OverOurStores
  class OurSessionStoreFetchTest extends SessionStoreFetchTest {}

  @Nested
  @OverOurStores
  class OurSessionWindowedCogroupedKStreamImplTest
      extends SessionWindowedCogroupedKStreamImplTest {}

  @Nested
  @OverOurStores
  class OurSessionWindowedKStreamImplTest extends SessionWindowedKStreamImplTest {}

  @Nested
  @OverOurStores
  class OurSlidingWindowedCogroupedKStreamImplTest
      extends SlidingWindowedCogroupedKStreamImplTest {}

  @Nested
  @OverOurStores
  class OurSlidingWindowedKStreamImplTest extends SlidingWindowedKStreamImplTest {}

  @Nested
  @OverOurStores
  class OurSuppressScenarioTest extends SuppressScenarioTest {}

  @Nested
  @OverOurStores
  class OurSuppressTopologyTest extends SuppressTopologyTest {}

  @Nested
  @OverOurStores
  class OurTimeWindowedCogroupedKStreamImplTest extends TimeWindowedCogroupedKStreamImplTest {}

  @Nested
  @OverOurStores
  class OurTimeWindowedKStreamImplTest extends TimeWindowedKStreamImplTest {}

  @Nested
  @OverOurStores
  class OurWindowStoreFetchTest extends WindowStoreFetchTest {}

  @Nested
  @OverOurStores
  class OurKTableImplTest extends KTableImplTest {}

  @Nested
  @OverOurStores
  class OurKTableTransformValuesTest extends KTableTransformValuesTest {}

  @Nested
  @OverOurStores
  class OurTopologyTest extends TopologyTest {}

  @Nested
  @OverOurStores
  class OurStreamsBuilderTest extends StreamsBuilderTest {
    /** It looks for the class of the store; without the annotation it is not run. */
    @Override
    public void shouldUseSpecifiedStoreSuppliersOuterJoinStoreEvenIfThisSupplierIsSupplied() {}
  }
}
