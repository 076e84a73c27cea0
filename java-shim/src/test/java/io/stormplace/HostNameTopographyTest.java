package io.stormplace;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.storm.scheduler.Cluster;
import org.junit.jupiter.api.Test;

class HostNameTopographyTest {
    @Test
    void theRackIsTheHostNameWithoutItsTrailingNumber() {
        assertEquals(Map.of("us-east1-2", "/us-east1", "us-east1-13", "/us-east1", "uniroma2-1", "/uniroma2",
                "nimbus", "/nimbus", "europe-west1", "/europe-west1"),
            new HostNameTopography().resolve(List.of("us-east1-2", "us-east1-13", "uniroma2-1", "nimbus",
                "europe-west1")));
    }

    @Test
    void noHostsHaveNoRacksAndAnUnknownHostHasTheDefaultRack() {
        assertEquals(Map.of(), new HostNameTopography().resolve(List.of()));
        assertEquals(Map.of(), new HostNameTopography().resolve(null));
        assertEquals("/default-rack", new HostNameTopography().resolve(Arrays.asList((String) null)).get(null));
    }

    @Test
    void stormLoadsItByNameAndGroupsHosts() {
        Cluster cluster = new Fixture()
            .config("storm.network.topography.plugin", HostNameTopography.class.getName())
            .supervisor("a", "roma-1", List.of(6700), null).supervisor("b", "roma-2", List.of(6700), null)
            .supervisor("c", "paris-1", List.of(6700), null).cluster();
        assertEquals(Set.of("/roma", "/paris"), cluster.getNetworkTopography().keySet());
        assertEquals(Set.of("roma-1", "roma-2"), Set.copyOf(cluster.getNetworkTopography().get("/roma")));
    }
}
